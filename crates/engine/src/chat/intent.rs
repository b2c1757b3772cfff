//! Tells what somebody wants: an answer, a summary, a list of documents, a comparison, what comes next, or just to talk.
//!
//! By words only. What is not surely something else is a question.

use super::{
    arithmetic,
    language::Language,
    phrases::{self, Talk},
    sides, words,
};
use crate::seams::answerer::{Direction, Side, Speaker, Turn};

/// What is wanted.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Intent {
    /// Something that no document is needed for, with the reply.
    Talk(String),
    /// What documents say in short: those that these words name, or all.
    Summary(Vec<String>),
    /// Which documents there are, or which are about something.
    Documents(Option<String>),
    /// What is said of several things.
    Comparison(Vec<Side>),
    /// What stands after, or before, what was answered last.
    Beside(Direction),
    /// An answer.
    Question,
}

/// What the last turn of a conversation wants.
pub(super) fn of(turns: &[Turn], language: Language) -> Intent {
    let Some(at) = turns.iter().rposition(|turn| turn.speaker == Speaker::User) else {
        return Intent::Question;
    };
    let text = turns[at].text.trim();
    if let Some(reply) = talk(text, language) {
        return Intent::Talk(reply);
    }
    let plain = Plain::of(text);
    let answered = turns[..at].iter().any(|turn| turn.speaker == Speaker::Assistant);
    if let Some(direction) = beside(&plain).filter(|_| answered) {
        return Intent::Beside(direction);
    }
    if let Some(topic) = documents(&plain) {
        return Intent::Documents(topic);
    }
    if let Some(named) = summary(&plain, language) {
        return Intent::Summary(named);
    }
    match sides::of(text) {
        Some(sides) => Intent::Comparison(sides),
        None => Intent::Question,
    }
}

/// Whether a turn asks for nothing in the documents, so that later turns do not refer to it.
pub(super) fn is_talk(text: &str) -> bool {
    talk(text, Language::English).is_some()
}

/// The reply to a turn that asks for nothing in the documents.
fn talk(text: &str, language: Language) -> Option<String> {
    if let Some(sum) = arithmetic::asked(text) {
        return Some(match sum.result {
            Some(result) => format!("{} = {}.", sum.written, arithmetic::plain(result)),
            None => phrases::undefined(language).to_string(),
        });
    }
    small_talk(&Plain::of(text)).map(|talk| phrases::reply(talk, language).to_string())
}

/// Whether a list, its entries kept apart by bars, has an entry.
fn has(list: &str, entry: &str) -> bool {
    list.split('|').any(|known| known == entry)
}

/// A text in lower case, only its words, with a blank before and after each.
struct Plain(String);

impl Plain {
    fn of(text: &str) -> Self {
        let mut plain = String::from(" ");
        let apart =
            |character: char| !character.is_alphanumeric() && !matches!(character, '-' | '.' | '_' | '&');
        for word in text.to_lowercase().split(apart) {
            let word = word.trim_matches(['-', '.']);
            if !word.is_empty() {
                plain.push_str(word);
                plain.push(' ');
            }
        }
        Plain(plain)
    }

    fn words(&self) -> impl Iterator<Item = &str> {
        self.0.split(' ').filter(|word| !word.is_empty())
    }

    /// What follows the first of these phrases at the start, polite words before it left out.
    fn after_start(&self, phrases: &str) -> Option<&str> {
        const POLITE: &str = "please|can|could|would|you|kindly|then|now|and|so|ok|okay|bitte|kannst|können|könntest|du|sie|mir|\
            und|por|favor|puedes|puede|podrías|y|peux-tu|pouvez-vous|peux|tu|pouvez|vous|s|il|te|plaît|et|pode|\
            você|e|puoi|può|per|favore|me|i|want|need|to|a|give|d|like|just|quickly|briefly|hello|hi";
        let mut rest = self.0.as_str();
        loop {
            let starts = |phrase: &&str| rest.starts_with(&format!(" {phrase} "));
            if let Some(phrase) = phrases.split('|').filter(starts).max_by_key(|phrase| phrase.len()) {
                return Some(&rest[phrase.len() + 1..]);
            }
            let first = rest.trim_start().split(' ').next().filter(|word| has(POLITE, word))?;
            rest = &rest[1 + first.len()..];
        }
    }
}

fn small_talk(plain: &Plain) -> Option<Talk> {
    const WELLBEING: &str = "how are you|how are you doing|how are you today|how s it going|what s up|\
        wie geht es dir|wie geht es ihnen|wie geht s|cómo estás|cómo está|como estas|qué tal|\
        comment ça va|ça va|comment allez vous|como vai|tudo bem|como está|come stai|\
        come va|come sta|你好吗|您好吗|お元気ですか|元気ですか|как дела|как ты|как вы|как поживаете|كيف حالك|كيف الحال|كيف حالكم";
    const MYSELF: &str = "who are you|what are you|what can you do|what do you do|what is your name|\
        what s your name|are you a robot|are you a bot|are you human|help|how can you help me|\
        can you help me|wer bist du|wer sind sie|was kannst du|was können sie|hilfe|\
        wie heißt du|quién eres|qué puedes hacer|cómo te llamas|ayuda|qui es-tu|qui êtes-vous|\
        que peux-tu faire|que pouvez-vous faire|quem é você|quem és tu|o que você pode fazer|\
        o que podes fazer|ajuda|chi sei|cosa puoi fare|come ti chiami|你是谁|您是谁|你能做什么|你会做什么|あなたは誰ですか|誰ですか|何ができますか|\
        何ができるの|ヘルプ|кто ты|кто вы|что ты умеешь|что вы умеете|что ты можешь|что вы можете|как тебя зовут|помощь|помоги|من أنت|\
        ماذا تستطيع أن تفعل|ماذا يمكنك أن تفعل|ما اسمك|مساعدة";
    const THANKS: &str = "thanks|thank|thx|ty|danke|dank|dankeschön|gracias|merci|obrigado|obrigada|grazie|cheers|谢谢|謝謝|谢谢你|谢谢您|多谢|非常感谢|ありがとう|ありがとうございます|ありがとうございました|どうも|\
        どうもありがとう|спасибо|благодарю|شكرا|شكراً|شكرًا";
    const GOODBYE: &str = "bye|goodbye|tschüss|tschüs|wiedersehen|adiós|adios|luego|revoir|tchau|adeus|arrivederci|再见|再見|拜拜|さようなら|さよなら|свидания|пока|السلامة|وداعا|وداعًا";
    const GREETING: &str = "hi|hello|hey|hallo|servus|moin|hola|bonjour|salut|bonsoir|olá|oi|ciao|buongiorno|salve|morning|\
        afternoon|evening|morgen|tag|abend|buenos|buenas|bom|boa|greetings|你好|您好|こんにちは|こんばんは|おはよう|おはようございます|привет|здравствуйте|здравствуй|утро|вечер|приветствую|\
        مرحبا|مرحبًا|مرحباً|أهلا|أهلًا|أهلاً|السلام|عليكم";
    const PRAISE: &str = "great|perfect|nice|awesome|cool|excellent|wonderful|super|toll|prima|perfekt|perfecto|genial|\
        estupendo|parfait|génial|perfeito|ótimo|perfetto|ottimo|ok|okay|helpful|brilliant|fantastic|good|\
        gut|bien|well|отлично|прекрасно|хорошо|супер|замечательно|ممتاز|رائع|جيد|太好了|很好|素晴らしい|すばらしい|いいですね";
    const FILLING: &str = "hilft|mir|qué|tal|you|so|much|very|a|lot|for|the|your|help|that|this|was|is|it|all|again|there|good|everyone|quire|\
        answer|information|info|job|done|work|to|s|vielen|schön|schönen|sehr|dir|ihnen|für|die|hilfe|guten|\
        das|war|auf|muchas|muchísimas|mil|por|su|tu|ayuda|la|días|tardes|noches|hasta|muy|beaucoup|bien|\
        pour|votre|aide|très|au|muito|pela|sua|ajuda|dia|tarde|noite|mille|tante|molte|per|aiuto|just|\
        really|many|helps|helped|me|now|that’s|большое|огромное|вам|тебе|за|помощь|ответ|до|добрый|доброе|день|очень|\
        это|всё|جزيلا|جزيلًا|جزيلاً|لك|لكم|على|المساعدة|مع|جدا|جدًا|الخير|صباح|مساء|وسهلا|وسهلًا";
    let whole = plain.0.trim();
    if has(WELLBEING, whole) {
        return Some(Talk::Wellbeing);
    }
    if has(MYSELF, whole) {
        return Some(Talk::Myself);
    }
    let words: Vec<&str> = plain.words().collect();
    let kinds = [
        (THANKS, Talk::Thanks),
        (GOODBYE, Talk::Goodbye),
        (GREETING, Talk::Greeting),
        (PRAISE, Talk::Praise),
    ];
    let known = |word: &str| has(FILLING, word) || kinds.iter().any(|(keys, _)| has(keys, word));
    if words.is_empty() || words.len() > 9 || !words.iter().all(|word| known(word)) {
        return None;
    }
    kinds.into_iter().find(|(keys, _)| words.iter().any(|word| has(keys, word))).map(|(_, talk)| talk)
}

/// "What came after it?", "and then?".
fn beside(plain: &Plain) -> Option<Direction> {
    const AFTER: &str = "after|afterwards|next|then|following|follows|danach|dann|nächstes|nächste|darauf|después|luego|\
        siguiente|après|ensuite|depois|seguida|seguir|dopo|poi|seguente|потом|затем|после|дальше|далее|بعد|بعدها|ثم|然后呢|接下来呢|之后呢|その後|その後は|次は|それから";
    const BEFORE: &str = "before|previously|preceded|davor|zuvor|vorher|antes|avant|auparavant|prima|до|раньше|перед|прежде|قبل|قبلها|之前呢|その前|その前は";
    const FILLING: &str = "and|what|who|which|one|came|come|comes|happened|happens|is|was|did|it|that|this|them|him|her|the|\
        step|item|point|right|immediately|directly|does|do|they|follow|followed|und|wer|kam|kommt|als|\
        passierte|geschah|folgt|folgte|ist|das|y|qué|que|quién|vino|viene|pasó|sucedió|fue|de|eso|ello|et|\
        qu|quoi|qui|est|ce|s|est-il|il|passé|vient|venu|vient-il|cela|ça|e|o|veio|vem|aconteceu|disso|isso|\
        quem|che|cosa|è|successo|venne|chi|questo|en|em|a|se|passe|t-il|des|del|della|we|i|you|и|а|что|кто|было|случилось|произошло|этого|этим|тем|идёт|следует|ماذا|وماذا|من|ذلك|هذا|حدث|جاء|و";
    let words: Vec<&str> = plain.words().collect();
    let known = |word: &&str| has(AFTER, word) || has(BEFORE, word) || has(FILLING, word);
    if words.is_empty() || words.len() > 8 || !words.iter().all(known) {
        return None;
    }
    if words.iter().any(|word| has(BEFORE, word)) {
        return Some(Direction::Before);
    }
    words.iter().any(|word| has(AFTER, word)).then_some(Direction::After)
}

/// What documents are called.
const DOCUMENTS: &str = "documents|files|papers|reports|dokumente|dateien|unterlagen|documentos|archivos|ficheros|fichiers|\
    arquivos|ficheiros|documenti|file|document|dokument|documento|sources|texts|pdfs|документы|файлы|المستندات|مستندات|الملفات|ملفات|الوثائق|وثائق";

/// Which documents are asked for: `Some(None)` is all.
fn documents(plain: &Plain) -> Option<Option<String>> {
    const ASKING: &str = "which|what|list|show|show me|list all|list all the|list the|show me the|show me all|show all|\
        do you have|do you have any|are there|are there any|is there|is there a|name the|name all|\
        enumerate the|how many|what kind of|what other|any|find|find me|find all|welche|zeige|zeige mir|\
        zeig mir|liste|liste die|liste alle|liste mir die|gibt es|hast du|haben sie|wie viele|nenne die|\
        nenne alle|zeige alle|zeige mir alle|zeige mir die|qué|que|cuáles|cuáles son los|lista los|\
        enumera los|muestra los|muéstrame los|hay|tienes|cuántos|quels|quels sont les|liste les|montre les|\
        montre-moi les|y a-t-il des|avez-vous des|combien de|as-tu des|quelles|quais|quais são os|liste os|\
        mostre os|há|existem|tem|quantos|quali|quali sono i|elenca i|mostra i|mostrami i|ci sono|hai|quanti|\
        in which|in welchen|en qué|dans quels|em que|em quais|in quali|which of the|which of your|\
        which of these|какие|покажи|покажи все|покажите|покажите все|перечисли|перечисли все|список|сколько|ما|ما هي|أي|اعرض|\
        اعرض كل|اعرض جميع|أظهر|أظهر كل|كم عدد|هل توجد";
    const HERE: &str = "do you have|have you got|have you|are there|are available|available|are in this box|are in the box|\
        are here|exist|there|you have|can i ask about|can you search|are stored|were uploaded|are uploaded|\
        have been uploaded|do we have|do i have|are in the collection|in this box|in the box|do you know|\
        hast du|haben sie|gibt es|gibt es hier|sind da|sind hier|liegen vor|sind vorhanden|\
        sind in dieser box|haben wir|kennst du|es gibt|hay|tienes|tiene|tiene usted|existen|tenemos|\
        hay aquí|están disponibles|avez-vous|as-tu|y a-t-il|sont disponibles|avons-nous|existent|il y a|\
        disponibles|há|existem|tem|você tem|tens|estão disponíveis|temos|tem aqui|hai|ci sono|\
        sono disponibili|avete|abbiamo|esistono|vous avez|tu as|do you have here|há aqui|есть|у вас есть|у тебя есть|есть здесь|имеются|доступны|هنا|لديك|المتوفرة|المتاحة|الموجودة|الموجودة هنا|\
        توجد|توجد هنا|متوفرة|موجودة";
    const ABOUT: &str = "about|on|regarding|concerning|mention|mentions|mentioning|discuss|discusses|cover|covers|covering|\
        deal with|deals with|dealing with|talk about|talks about|speak of|speak about|related to|\
        relating to|that mention|contain|contains|über|zu|zum|zur|erwähnen|behandeln|handeln von|sobre|\
        acerca de|mencionan|hablan de|tratan de|tratan|sur|à propos de|concernant|parlent de|parlent|\
        mentionnent|traitent de|traitent|mencionam|falam de|falam sobre|tratam de|tratam|su|sul|sulla|sui|\
        riguardo a|parlano di|menzionano|trattano di|trattano|with information about|with information on|\
        are about|is about|von|de|di|о|об|про|по|есть о|есть об|есть про|упоминают|говорят о|عن|حول|تتحدث عن|التي تتحدث عن";
    const LISTING: &str = "list|show|show me|find|find me|name|zeige|zeig|zeige mir|zeig mir|liste|nenne|muestra|muéstrame|enumera|montre|\
        montre-moi|mostre|mostra|mostrami|elenca|покажи|покажите|перечисли|список|اعرض|أظهر";
    const HAVING: &str = "what do you have|what have you got|was hast du|was haben sie|qué tienes|qué tiene|que tens|o que tem|o que tens|\
        qu avez-vous|qu as-tu|cosa hai|che cosa hai";
    // Where words have no blanks between them.
    const WHOLE: &str = "有哪些文档|有什么文档|有哪些文件|有什么文件|列出所有文档|列出文档|列出所有文件|显示所有文档|你有哪些文档|您有哪些文档|\
        这里有哪些文档|どんな文書がありますか|どの文書がありますか|どのような文書がありますか|文書の一覧|文書一覧|ファイル一覧|すべての文書を表示|\
        すべての文書を一覧表示してください|文書を一覧表示してください|どんなファイルがありますか";
    if has(WHOLE, plain.0.trim()) {
        return Some(None);
    }
    // The longest phrase first, so that "are there about ducks" is not read as "are".
    let strip = |rest: &str, phrases: &str| -> Option<String> {
        let found = phrases.split('|').filter(|phrase| format!("{rest} ").starts_with(&format!("{phrase} ")));
        found.max_by_key(|phrase| phrase.len()).map(|phrase| rest[phrase.len()..].trim().to_string())
    };
    if let Some(topic) = plain.after_start(HAVING).and_then(|rest| strip(rest.trim(), ABOUT)) {
        return is_topic(&topic).then_some(Some(topic));
    }
    let rest = plain.after_start(ASKING)?;
    let rest = rest.trim();
    let (noun, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let (noun, rest) = match noun {
        "the" | "all" | "other" | "of" | "kind" | "my" | "our" | "die" | "los" | "les" | "os" | "i"
        | "any" | "alle" | "todos" | "tous" | "tutti" => rest.split_once(' ').unwrap_or((rest, "")),
        noun => (noun, rest),
    };
    if !has(DOCUMENTS, noun) {
        return None;
    }
    let rest = rest.trim_start_matches("that ").to_string();
    let imperative = plain.after_start(LISTING).is_some();
    let here = strip(&rest, HERE);
    let after = here.clone().unwrap_or_else(|| rest.clone());
    // "do you have here?", "sind da alle?"
    let after = after.trim_start_matches("here").trim_start_matches("that ").trim().to_string();
    if after.is_empty() {
        return (here.is_some() || imperative).then_some(None);
    }
    // "In which document is the jetty mentioned?"
    let mentioned =
        ["mentioned", "discussed", "described", "erwähnt", "beschrieben"].iter().find_map(|verb| {
            let inside = after.strip_suffix(verb)?;
            ["is ", "are ", "was ", "wird ", "werden ", "ist "]
                .iter()
                .find_map(|start| inside.strip_prefix(start))
                .map(str::trim)
        });
    let topic = match mentioned {
        Some(topic) => topic.to_string(),
        None => strip(&after, ABOUT)?,
    };
    let topic = topic.trim_start_matches("the ").trim().to_string();
    is_topic(&topic).then_some(Some(topic))
}

/// Whether some words can be what documents are about.
fn is_topic(words: &str) -> bool {
    (1..=8).contains(&words::telling(words).len())
}

/// The words that name what is to be summarised; none where that is all there is.
fn summary(plain: &Plain, language: Language) -> Option<Vec<String>> {
    const DEMANDING: &str = "summarise|summarize|um was geht es in|um was geht es|sum up|summary|summary of|a summary of|short summary of|a short summary of|\
        brief summary of|a brief summary of|the summary of|an overview of|overview of|write a summary of|\
        write a short summary of|provide a summary of|provide an overview of|make a summary of|outline|tldr|\
        tl dr|show me a summary of|the gist of|the main points of|the key points of|key points of|\
        main points of|recap|what are the main points of|what are the key points of|\
        what are the main points|what are the key points|what are the key takeaways|\
        what are the main takeaways|what are the key takeaways of|what is in|what s in|fasse|fass|\
        fassen sie|zusammenfassung|eine zusammenfassung|gib eine zusammenfassung|\
        gib mir eine zusammenfassung|schreibe eine zusammenfassung|gib einen überblick über|\
        gib mir einen überblick über|ein überblick über|worum geht es in|worum geht es im|worum geht es|\
        wovon handelt|was steht in|was steht im|was sind die wichtigsten punkte|resúmeme|resumir|resumen|\
        resumen de|resumen del|un resumen de|un resumen del|haz un resumen de|haz un resumen del|\
        hazme un resumen de|dame un resumen de|dame un resumen del|dame un resumen|de qué trata|\
        de qué habla|cuáles son los puntos principales|résume|résumez|résumer|résumé|un résumé de|\
        un résumé du|fais un résumé de|fais un résumé du|fais-moi un résumé de|fais-moi un résumé du|\
        faites un résumé de|faites un résumé du|de quoi parle|de quoi parlent|de quoi traite|\
        de quoi s agit-il|quels sont les points principaux|quels sont les points clés|resuma|resumo|\
        resumo de|resumo do|um resumo de|um resumo do|faça um resumo de|faça um resumo do|faz um resumo de|\
        faz um resumo do|dê um resumo de|dê um resumo do|do que trata|de que trata|sobre o que é|\
        do que fala|quais são os pontos principais|riassumi|riassumere|riassunto|riassunto di|\
        un riassunto di|un riassunto del|fai un riassunto di|fai un riassunto del|fammi un riassunto|\
        di cosa parla|di cosa tratta|quali sono i punti principali|кратко изложи|кратко изложите|кратко перескажи|перескажи|резюмируй|\
        сделай краткое содержание|сделай резюме|резюме|краткое содержание|подведи итог|о чём|о чем|о чём говорится в|о чем говорится в|\
        لخص|لخّص|لخصي|ملخص|ملخص عن|أعطني ملخصا|أعطني ملخصًا|أعطني ملخصا عن|عن ماذا يتحدث|عم يتحدث|ما موضوع";
    // Where words have no blanks between them.
    const WHOLE: &str = "总结|总结一下|请总结|请总结一下|总结文档|总结这份文档|总结一下这份文档|请总结这份文档|总结所有文档|概括一下|概括这份文档|\
        这份文档讲什么|这份文档讲了什么|这份文档的主要内容是什么|文档的主要内容是什么|这个文件讲什么|要約|要約して|要約してください|この文書を要約して|\
        この文書を要約してください|文書を要約して|文書を要約してください|すべての文書を要約してください|まとめて|まとめてください|\
        この文書は何についてですか|この文書の内容は何ですか|この文書の概要は";
    if has(WHOLE, plain.0.trim()) {
        return Some(Vec::new());
    }
    if let Some(named) = summarised(plain) {
        return Some(named);
    }
    let spanish = plain.after_start("resume").filter(|_| language != Language::English);
    let about = plain.after_start("what is|what s|what are").filter(|rest| rest.ends_with(" about "));
    let about = about.map(|rest| rest.trim_end_matches(" about ")).filter(|rest| {
        // "What is the file about?", "What is the report on ducks about?"; "what is all this fuss about" is a question.
        rest.split(' ').any(|said| has(GENERAL, said))
    });
    // "What does the report say, in short?"
    let short = plain.after_start("what does|what do").and_then(|rest| {
        [" say in short ", " say in brief ", " say briefly ", " say overall "]
            .iter()
            .find_map(|end| rest.strip_suffix(end))
    });
    let rest = plain.after_start(DEMANDING).or(spanish).or(about).or(short)?;
    let in_general = |demand: &str| plain.after_start(demand).is_some();
    let named: Vec<String> = rest
        .split(' ')
        .filter(|word| !word.is_empty() && !words::is_empty(word) && !has(GENERAL, word))
        .map(str::to_string)
        .collect();
    // "What is in the box?" asks for its contents; "What is in the soup?" is a question.
    let weak = in_general("what is in")
        || in_general("what s in")
        || in_general("outline")
        || in_general("was steht in")
        || in_general("was steht im");
    let points = rest.split(' ').any(|word| has(GENERAL, word));
    if weak && !points {
        return None;
    }
    Some(named)
}

/// What a request that has a word for summaries names: nothing but polite words may stand before that word.
fn summarised(plain: &Plain) -> Option<Vec<String>> {
    const SUMMARIES: &str = "summary|summarise|summarize|overview|gist|zusammenfassung|zusammenfassen|überblick|inhalt|resumen|resumir|\
        résumé|résumer|resumo|riassunto|riassumere|panoramica";
    const ASKING: &str = "give|provide|write|make|show|create|get|need|want|would|like|can|could|you|please|me|quick|gib|schreib|schreibe|\
        erstelle|mach|kannst|können|könntest|könnten|bitte|einen|haz|hazme|dame|puedes|puede|podrías|hacer|dar|fais|fais-moi|\
        faites|faites-moi|donne|donne-moi|peux-tu|pouvez-vous|peux|pouvez|tu|vous|faça|faz|faz-me|dê|dá-me|podes|pode|poderia|você|\
        fammi|fai|puoi|può|dammi|favor|do|i|d|s|um|geht";
    const OTHER: &str = "when|where|who|why|how|which|whose|wann|wo|wer|warum|wie|welche|cuándo|dónde|quién|quand|où|qui|quando|onde|quem|\
        dove|chi";
    let words: Vec<&str> = plain.words().collect();
    let at = words.iter().position(|word| has(SUMMARIES, word))?;
    let polite =
        |word: &&str| !has(OTHER, word) && (has(ASKING, word) || has(GENERAL, word) || words::is_empty(word));
    if !words[..at].iter().all(polite) {
        return None;
    }
    let named = words.iter().filter(|word| !has(SUMMARIES, word) && !polite(word));
    Some(named.map(ToString::to_string).collect())
}

/// Words that mean documents in general and name none.
const GENERAL: &str = "all|every|each|alle|aller|allen|todos|todas|tous|toutes|tutti|tutte|complete|detailed|\
    document|documents|file|files|report|text|paper|box|everything|page|pages|content|contents|article|\
    pdf|collection|whole|entire|short|brief|briefly|sentences|words|few|three|points|bullet|key|main|\
    here|above|attached|uploaded|dokument|dokumente|datei|dateien|texte|zusammen|kurz|alles|bericht|\
    inhalt|sätzen|documento|documentos|archivo|archivos|todo|caja|texto|breve|brevemente|contenido|\
    informe|fichier|fichiers|boîte|tout|brièvement|bref|contenu|rapport|arquivo|arquivos|ficheiro|tudo|\
    caixa|relatório|conteúdo|documenti|testo|tutto|casella|contenuto|este|esta|estos|estes|cet|questo|\
    questa|questi|dieses|diese|diesen|mir|me|moi|five|two|one|overall|frases|phrases|english|german|\
    spanish|french|please|bitte|документ|документа|документы|документов|документе|файл|файла|файлы|текст|текста|этот|этого|этом|\
    эти|все|всех|всё|кратко|содержание|отчёт|отчет|المستند|المستندات|مستند|هذا|هذه|الملف|الملفات|الوثيقة|الوثائق|النص|كل|جميع|باختصار|لي";

#[cfg(test)]
mod tests {
    use super::*;

    fn intent(text: &str) -> Intent {
        let turns = [Turn { speaker: Speaker::User, text: text.into() }];
        of(&turns, Language::of(&turns))
    }

    #[test]
    fn small_talk_and_sums_need_no_documents() {
        for (text, reply) in [
            ("thank you!", "You’re welcome!"),
            ("Thanks a lot, that was very helpful.", "You’re welcome!"),
            ("Hello", "Hello! What would you like to know from the documents?"),
            ("¡Muchas gracias!", "¡De nada!"),
            ("Vielen Dank!", "Gern geschehen!"),
            ("Merci beaucoup", "Je vous en prie !"),
            ("Obrigada!", "De nada!"),
            ("What is 2+2?", "2 + 2 = 4."),
            ("谢谢！", "不客气！"),
            ("ありがとうございます。", "どういたしまして。"),
            ("Большое спасибо!", "Пожалуйста!"),
            ("شكراً جزيلاً", "على الرحب والسعة!"),
            ("До свидания", "До свидания!"),
            ("السلام عليكم", "مرحبًا! ماذا تود أن تعرف من المستندات؟"),
        ] {
            assert_eq!(intent(text), Intent::Talk(reply.into()), "{text}");
        }
        for text in [
            "Thanks, and how long is the warranty?",
            "Who thanked the mayor?",
            "What is the good practice for storage?",
            "Is it good for the environment?",
        ] {
            assert_eq!(intent(text), Intent::Question, "{text}");
        }
    }

    #[test]
    fn summaries_name_what_they_are_of() {
        for (text, named) in [
            ("Summarise this document", &[][..]),
            ("Please summarize the report on ducks.", &["ducks"]),
            ("Can you give me a short summary of warranty.md?", &["warranty.md"]),
            ("What is this document about?", &[]),
            ("Fasse das Dokument zusammen", &[]),
            ("Worum geht es in diesem Dokument?", &["diesem"]),
            ("Resume este documento", &[]),
            ("¿De qué trata el documento?", &[]),
            ("Résume ce document", &[]),
            ("Resuma o documento", &[]),
            ("Riassumi il documento", &[]),
            ("Kannst du das Dokument zusammenfassen?", &[]),
            ("Please give me a short summary", &[]),
            ("Fasse alle Dokumente zusammen", &[]),
            ("Hazme un resumen del documento", &[]),
            ("Peux-tu résumer ce document ?", &[]),
            ("请总结这份文档。", &[]),
            ("この文書を要約してください。", &[]),
            ("Кратко изложи этот документ", &[]),
            ("لخص هذا المستند", &[]),
        ] {
            let Intent::Summary(found) = intent(text) else { panic!("{text}: {:?}", intent(text)) };
            let found: Vec<&str> =
                found.iter().map(String::as_str).filter(|word| *word != "diesem").collect();
            let named: Vec<&str> = named.iter().copied().filter(|word| *word != "diesem").collect();
            assert_eq!(found, named, "{text}");
        }
        for text in
            ["When was the executive summary published?", "What is in the soup?", "Who wrote the report?"]
        {
            assert_eq!(intent(text), Intent::Question, "{text}");
        }
    }

    #[test]
    fn documents_are_listed_where_the_collection_is_asked_about() {
        for text in [
            "Which documents do you have?",
            "Zeig mir alle Dokumente",
            "What files are there?",
            "List all documents",
            "Welche Dokumente gibt es?",
            "¿Qué documentos hay?",
            "Quels documents avez-vous ?",
            "Quais documentos existem?",
            "Quali documenti ci sono?",
            "有哪些文档？",
            "どんな文書がありますか？",
            "Какие документы есть?",
            "ما هي المستندات الموجودة هنا؟",
        ] {
            assert_eq!(intent(text), Intent::Documents(None), "{text}");
        }
        for (text, topic) in [
            ("What documents are there about ducks?", "ducks"),
            ("Which files mention the warranty?", "warranty"),
            ("What do you have about birds?", "birds"),
            ("In which document is the jetty mentioned?", "jetty"),
            ("Welche Dokumente gibt es über Enten?", "enten"),
            ("¿Qué documentos hay sobre patos?", "patos"),
            ("Quels documents parlent de canards ?", "canards"),
            ("Do you have any documents on travel expenses?", "travel expenses"),
        ] {
            assert_eq!(intent(text), Intent::Documents(Some(topic.into())), "{text}");
        }
        for text in [
            "Which documents are required for a visa?",
            "What documents must I submit?",
            "What reports does the auditor sign?",
        ] {
            assert_eq!(intent(text), Intent::Question, "{text}");
        }
    }

    #[test]
    fn what_comes_next_refers_to_an_answer() {
        let turn = |speaker, text: &str| Turn { speaker, text: text.into() };
        let asked = |text: &str| {
            let turns = [
                turn(Speaker::User, "What is the first step?"),
                turn(Speaker::Assistant, "Wash. [1]"),
                turn(Speaker::User, text),
            ];
            of(&turns, Language::English)
        };
        assert_eq!(asked("What came after it?"), Intent::Beside(Direction::After));
        assert_eq!(asked("and then?"), Intent::Beside(Direction::After));
        assert_eq!(asked("Was kam danach?"), Intent::Beside(Direction::After));
        assert_eq!(asked("¿Y después?"), Intent::Beside(Direction::After));
        assert_eq!(asked("А что потом?"), Intent::Beside(Direction::After));
        assert_eq!(asked("وماذا بعد ذلك؟"), Intent::Beside(Direction::After));
        assert_eq!(asked("然后呢？"), Intent::Beside(Direction::After));
        assert_eq!(asked("その前は？"), Intent::Beside(Direction::Before));
        assert_eq!(asked("What was before that?"), Intent::Beside(Direction::Before));
        assert_eq!(asked("What came after the war?"), Intent::Question);
        assert_eq!(intent("What came after it?"), Intent::Question);
    }
}
