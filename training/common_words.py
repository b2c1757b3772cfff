"""The words of a text that tell something, by a crude stem; Chinese by its characters."""
import re
from functools import lru_cache

from text import STOP_WORDS, fold

OTHER_STOP_WORDS = set("der die das und ist war wie was wer wo wann ein eine in von zu den dem el la los las un una de del que en y es fue "
                       "cuál qué quién cuándo dónde cómo cuántos por con para se su al".split())


@lru_cache(maxsize=400_000)
def content_words(text):
    found = set()
    for word in re.findall(r"[\u3400-\u9fff]|[^\W_]+", text.lower()):
        if word not in STOP_WORDS and word not in OTHER_STOP_WORDS:
            word = fold(word)
            found.add(re.sub(r"(ies|es|s|ing|ed)$", "", word) if len(word) > 4 and not word[0].isdigit() else word)
    return frozenset(found)
