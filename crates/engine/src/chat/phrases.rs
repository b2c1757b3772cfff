//! The fixed sentences of answers, in the language of whoever asks.

use super::language::Language::{
    self, Arabic, Chinese, English, French, German, Italian, Japanese, Portuguese, Russian, Spanish,
};

/// What somebody says who asks for nothing in the documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Talk {
    Greeting,
    Thanks,
    Goodbye,
    Praise,
    /// "How are you?"
    Wellbeing,
    /// "Who are you?", "What can you do?"
    Myself,
}

/// The reply to small talk.
pub(super) fn reply(talk: Talk, language: Language) -> &'static str {
    match (talk, language) {
        (Talk::Greeting, English) => "Hello! What would you like to know from the documents?",
        (Talk::Greeting, German) => "Hallo! Was möchten Sie aus den Dokumenten wissen?",
        (Talk::Greeting, Spanish) => "¡Hola! ¿Qué desea saber de los documentos?",
        (Talk::Greeting, French) => "Bonjour ! Que souhaitez-vous savoir des documents ?",
        (Talk::Greeting, Portuguese) => "Olá! O que gostaria de saber dos documentos?",
        (Talk::Greeting, Italian) => "Ciao! Che cosa desidera sapere dai documenti?",
        (Talk::Greeting, Chinese) => "您好！您想从文档中了解什么？",
        (Talk::Greeting, Japanese) => "こんにちは。文書について何をお知りになりたいですか？",
        (Talk::Greeting, Russian) => "Здравствуйте! Что вы хотите узнать из документов?",
        (Talk::Greeting, Arabic) => "مرحبًا! ماذا تود أن تعرف من المستندات؟",
        (Talk::Thanks, English) => "You’re welcome!",
        (Talk::Thanks, German) => "Gern geschehen!",
        (Talk::Thanks, Spanish) => "¡De nada!",
        (Talk::Thanks, French) => "Je vous en prie !",
        (Talk::Thanks, Portuguese) => "De nada!",
        (Talk::Thanks, Italian) => "Prego!",
        (Talk::Thanks, Chinese) => "不客气！",
        (Talk::Thanks, Japanese) => "どういたしまして。",
        (Talk::Thanks, Russian) => "Пожалуйста!",
        (Talk::Thanks, Arabic) => "على الرحب والسعة!",
        (Talk::Goodbye, English) => "Goodbye!",
        (Talk::Goodbye, German) => "Auf Wiedersehen!",
        (Talk::Goodbye, Spanish) => "¡Hasta luego!",
        (Talk::Goodbye, French) => "Au revoir !",
        (Talk::Goodbye, Portuguese) => "Até logo!",
        (Talk::Goodbye, Italian) => "Arrivederci!",
        (Talk::Goodbye, Chinese) => "再见！",
        (Talk::Goodbye, Japanese) => "さようなら。",
        (Talk::Goodbye, Russian) => "До свидания!",
        (Talk::Goodbye, Arabic) => "مع السلامة!",
        (Talk::Praise, English) => "Glad to help. Ask me anything else about the documents.",
        (Talk::Praise, German) => "Das freut mich. Fragen Sie gern weiter zu den Dokumenten.",
        (Talk::Praise, Spanish) => "Me alegra ayudar. Pregúnteme lo que quiera sobre los documentos.",
        (Talk::Praise, French) => "Ravi d’avoir pu aider. Posez-moi d’autres questions sur les documents.",
        (Talk::Praise, Portuguese) => "Fico feliz em ajudar. Pergunte mais sobre os documentos.",
        (Talk::Praise, Italian) => "Felice di aiutare. Chieda pure altro sui documenti.",
        (Talk::Praise, Chinese) => "很高兴能帮上忙。",
        (Talk::Praise, Japanese) => "お役に立ててうれしいです。ほかにも文書についてお尋ねください。",
        (Talk::Praise, Russian) => "Рад помочь. Спрашивайте о документах ещё.",
        (Talk::Praise, Arabic) => "يسعدني أنني ساعدت. اسأل ما شئت عن المستندات.",
        (Talk::Wellbeing, English) => "I’m fine, thank you. What would you like to know from the documents?",
        (Talk::Wellbeing, German) => "Danke, gut. Was möchten Sie aus den Dokumenten wissen?",
        (Talk::Wellbeing, Spanish) => "Muy bien, gracias. ¿Qué desea saber de los documentos?",
        (Talk::Wellbeing, French) => "Très bien, merci. Que souhaitez-vous savoir des documents ?",
        (Talk::Wellbeing, Portuguese) => "Bem, obrigado. O que gostaria de saber dos documentos?",
        (Talk::Wellbeing, Italian) => "Bene, grazie. Che cosa desidera sapere dai documenti?",
        (Talk::Wellbeing, Chinese) => "我很好，谢谢。您想从文档中了解什么？",
        (Talk::Wellbeing, Japanese) => {
            "元気です。ありがとうございます。文書について何をお知りになりたいですか？"
        }
        (Talk::Wellbeing, Russian) => "Спасибо, хорошо. Что вы хотите узнать из документов?",
        (Talk::Wellbeing, Arabic) => "بخير، شكرًا لك. ماذا تود أن تعرف من المستندات؟",
        (Talk::Myself, English) => {
            "I answer questions from the documents in this box and quote where each answer stands. \
             I can also summarise, compare and list documents."
        }
        (Talk::Myself, German) => {
            "Ich beantworte Fragen aus den Dokumenten dieser Box und zitiere, wo die Antwort steht. \
             Ich kann Dokumente auch zusammenfassen, vergleichen und auflisten."
        }
        (Talk::Myself, Spanish) => {
            "Respondo preguntas con los documentos de esta caja y cito dónde está cada respuesta. \
             También puedo resumir, comparar y enumerar documentos."
        }
        (Talk::Myself, French) => {
            "Je réponds aux questions à partir des documents de cette boîte et je cite mes sources. \
             Je peux aussi résumer, comparer et énumérer les documents."
        }
        (Talk::Myself, Portuguese) => {
            "Respondo a perguntas com os documentos desta caixa e cito onde está cada resposta. \
             Também posso resumir, comparar e listar documentos."
        }
        (Talk::Myself, Italian) => {
            "Rispondo alle domande con i documenti di questa casella e cito dove si trova ogni risposta. \
             Posso anche riassumere, confrontare ed elencare i documenti."
        }
        (Talk::Myself, Chinese) => "我根据此文档库中的文档回答问题，并注明出处；也可以总结、比较和列出文档。",
        (Talk::Myself, Japanese) => {
            "このボックスの文書をもとに質問に答え、その根拠となる箇所を引用します。文書の要約、比較、一覧もできます。"
        }
        (Talk::Myself, Russian) => {
            "Я отвечаю на вопросы по документам этого хранилища и цитирую, где находится ответ. \
             Могу также обобщать, сравнивать и перечислять документы."
        }
        (Talk::Myself, Arabic) => {
            "أجيب عن الأسئلة من مستندات هذا الصندوق وأقتبس موضع كل إجابة. \
             ويمكنني أيضًا تلخيص المستندات ومقارنتها وسردها."
        }
    }
}

/// The answer to a question that the documents do not answer.
pub(super) fn nothing_found(language: Language, near: &[(String, u32)]) -> String {
    let (nothing, nearest, page) = match language {
        English => {
            ("I found nothing in the documents that answers this.", "The nearest passages are", "page")
        }
        German => ("Dazu habe ich in den Dokumenten nichts gefunden.", "Am nächsten kommen", "Seite"),
        Spanish => ("No encontré nada sobre esto en los documentos.", "Lo más cercano", "página"),
        French => ("Je n’ai rien trouvé à ce sujet dans les documents.", "Le plus proche", "page"),
        Portuguese => ("Não encontrei nada sobre isso nos documentos.", "O mais próximo", "página"),
        Italian => ("Non ho trovato nulla su questo nei documenti.", "Le parti più vicine", "pagina"),
        Chinese => ("文档中没有找到相关内容。", "最接近的是", "页"),
        Japanese => ("文書の中に、これに答える箇所は見つかりませんでした。", "最も近い箇所", "ページ"),
        Russian => ("В документах я не нашёл ответа на этот вопрос.", "Ближе всего", "страница"),
        Arabic => ("لم أجد في المستندات ما يجيب عن هذا السؤال.", "أقرب المواضع", "صفحة"),
    };
    let mut places: Vec<String> =
        near.iter().map(|(name, number)| format!("{name}, {page} {number}")).collect();
    places.dedup();
    if places.is_empty() {
        nothing.to_string()
    } else {
        format!("{nothing} {nearest}: {}.", places.join("; "))
    }
}

/// The line above a list of all documents.
pub(super) fn documents(language: Language, count: u64) -> String {
    match (language, count) {
        (English, 0) => "There are no documents here yet.".into(),
        (English, 1) => "There is 1 document:".into(),
        (English, _) => format!("There are {count} documents:"),
        (German, 0) => "Hier gibt es noch keine Dokumente.".into(),
        (German, 1) => "Es gibt 1 Dokument:".into(),
        (German, _) => format!("Es gibt {count} Dokumente:"),
        (Spanish, 0) => "Aquí todavía no hay documentos.".into(),
        (Spanish, 1) => "Hay 1 documento:".into(),
        (Spanish, _) => format!("Hay {count} documentos:"),
        (French, 0) => "Il n’y a pas encore de documents ici.".into(),
        (French, 1) => "Il y a 1 document :".into(),
        (French, _) => format!("Il y a {count} documents :"),
        (Portuguese, 0) => "Ainda não há documentos aqui.".into(),
        (Portuguese, 1) => "Há 1 documento:".into(),
        (Portuguese, _) => format!("Há {count} documentos:"),
        (Italian, 0) => "Qui non ci sono ancora documenti.".into(),
        (Italian, 1) => "C’è 1 documento:".into(),
        (Italian, _) => format!("Ci sono {count} documenti:"),
        (Chinese, 0) => "这里还没有文档。".into(),
        (Chinese, _) => format!("共有 {count} 个文档："),
        (Japanese, 0) => "ここにはまだ文書がありません。".into(),
        (Japanese, _) => format!("文書は {count} 件あります："),
        (Russian, 0) => "Здесь ещё нет документов.".into(),
        (Russian, _) => format!("Документов: {count}."),
        (Arabic, 0) => "لا توجد مستندات هنا بعد.".into(),
        (Arabic, _) => format!("عدد المستندات: {count}."),
    }
}

/// The line below a list that is longer than what is shown.
pub(super) fn more(language: Language, count: u64) -> String {
    match language {
        English => format!("… and {count} more."),
        German => format!("… und {count} weitere."),
        Spanish => format!("… y {count} más."),
        French => format!("… et {count} autres."),
        Portuguese => format!("… e mais {count}."),
        Italian => format!("… e altri {count}."),
        Chinese => format!("……还有 {count} 个。"),
        Japanese => format!("……ほか {count} 件。"),
        Russian => format!("… и ещё {count}."),
        Arabic => format!("… و{count} أخرى."),
    }
}

/// The line above a list of documents about something.
pub(super) fn documents_about(language: Language, topic: &str) -> String {
    match language {
        English => format!("Documents about “{topic}”:"),
        German => format!("Dokumente zu „{topic}“:"),
        Spanish => format!("Documentos sobre «{topic}»:"),
        French => format!("Documents sur « {topic} » :"),
        Portuguese => format!("Documentos sobre “{topic}”:"),
        Italian => format!("Documenti su “{topic}”:"),
        Chinese => format!("关于“{topic}”的文档："),
        Japanese => format!("「{topic}」に関する文書："),
        Russian => format!("Документы о «{topic}»:"),
        Arabic => format!("مستندات عن «{topic}»:"),
    }
}

/// How the pages of a document are counted.
pub(super) fn pages(language: Language, count: u32) -> String {
    let word = match (language, count) {
        (English, 1) | (French, 1) => "page",
        (English, _) | (French, _) => "pages",
        (German, 1) => "Seite",
        (German, _) => "Seiten",
        (Spanish | Portuguese, 1) => "página",
        (Spanish | Portuguese, _) => "páginas",
        (Italian, 1) => "pagina",
        (Italian, _) => "pagine",
        (Chinese, _) => "页",
        (Japanese, _) => "ページ",
        (Russian, _) => "стр.",
        (Arabic, _) => "صفحة",
    };
    format!("{count} {word}")
}

/// The word before the headings of a document.
pub(super) fn outline(language: Language) -> &'static str {
    match language {
        English => "Outline",
        German => "Gliederung",
        Spanish => "Esquema",
        French => "Plan",
        Portuguese => "Estrutura",
        Italian => "Struttura",
        Chinese => "提纲",
        Japanese => "構成",
        Russian => "Содержание",
        Arabic => "المخطط",
    }
}

/// What is said of a side of a comparison that the documents say nothing about.
pub(super) fn lacking(language: Language) -> &'static str {
    match language {
        English => "I found nothing in the documents.",
        German => "Dazu habe ich in den Dokumenten nichts gefunden.",
        Spanish => "no encontré nada en los documentos.",
        French => "je n’ai rien trouvé dans les documents.",
        Portuguese => "não encontrei nada nos documentos.",
        Italian => "non ho trovato nulla nei documenti.",
        Chinese => "文档中没有找到相关内容。",
        Japanese => "文書の中に見つかりませんでした。",
        Russian => "в документах ничего не найдено.",
        Arabic => "لم أجد شيئًا في المستندات.",
    }
}

/// The answer to a division by nothing.
pub(super) fn undefined(language: Language) -> &'static str {
    match language {
        English => "That cannot be divided: the divisor is 0.",
        German => "Das lässt sich nicht teilen: Der Teiler ist 0.",
        Spanish => "No se puede dividir: el divisor es 0.",
        French => "La division est impossible : le diviseur est 0.",
        Portuguese => "Não é possível dividir: o divisor é 0.",
        Italian => "Non si può dividere: il divisore è 0.",
        Chinese => "除数为 0，无法计算。",
        Japanese => "0 で割ることはできません。",
        Russian => "Разделить нельзя: делитель равен 0.",
        Arabic => "لا يمكن القسمة: المقسوم عليه هو 0.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_gets_no_answer_hears_what_is_near_in_their_language() {
        let near = [("a.md".to_string(), 1), ("a.md".to_string(), 1), ("b.md".to_string(), 3)];
        let said = nothing_found(English, &near);
        assert!(said.ends_with("The nearest passages are: a.md, page 1; b.md, page 3."), "{said}");
        assert!(nothing_found(Portuguese, &[]).starts_with("Não encontrei"));
        assert!(nothing_found(Russian, &near).contains("b.md, страница 3"));
        assert_eq!(nothing_found(Italian, &near[..1]).matches("a.md, pagina 1").count(), 1);
    }
}
