//! Measures the search path on judged sets. See bench/index/README.md.

mod embeddings;
mod features;
mod measure;
mod sets;
mod words;

use std::{collections::BTreeSet, fs, io::Write, path::Path};

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(root) = sets::root() else {
        println!("no sets beside the repository; nothing measured");
        return;
    };
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["texts", folder] => write_texts(&root, Path::new(folder)),
        ["features", folder, ref names @ ..] => features::write(&root, Path::new(folder), names).await,
        ["words", ref folders @ ..] => words::print(&root, folders).await,
        ["measure", folder] => measure::print(&root, Path::new(folder), &sets::NAMES).await,
        ["measure", folder, ref names @ ..] => measure::print(&root, Path::new(folder), names).await,
        _ => println!(
            "usage: quality texts FOLDER | quality features FOLDER SET… | quality measure FOLDER [SET…] | quality words [SET…]"
        ),
    }
}

/// Writes every text that has to be embedded, one JSON string a line, each once.
fn write_texts(root: &Path, folder: &Path) {
    fs::create_dir_all(folder).expect("a folder to write to");
    for name in sets::NAMES {
        let set = sets::read(&root.join(name));
        let passages: BTreeSet<String> = set
            .documents
            .iter()
            .flat_map(|(_, document)| sets::chunks(document))
            .map(|(_, text)| text)
            .collect();
        let queries: BTreeSet<String> = set.queries.into_iter().map(|(_, text)| text).collect();
        for (kind, texts) in [("passages", passages), ("queries", queries)] {
            let mut file = fs::File::create(folder.join(format!("{name}.{kind}.jsonl"))).expect("a file");
            for text in &texts {
                writeln!(file, "{}", serde_json::Value::from(text.as_str())).expect("room on the disk");
            }
            println!("{name}: {} {kind}", texts.len());
        }
    }
}
