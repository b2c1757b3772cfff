//! Landlock: no file at all, but for the programs that may be asked and what they load. The input is open already.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};

/// What loads a program; the kernel opens it to run, like the program itself.
const LOADERS: [&str; 4] = [
    "/lib64/ld-linux-x86-64.so.2",
    "/lib/ld-linux-aarch64.so.1",
    "/lib/ld-musl-x86_64.so.1",
    "/lib/ld-musl-aarch64.so.1",
];
/// Where the system keeps libraries.
const LIBRARIES: [&str; 5] = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib"];
/// What `tesseract` and `pdftotext` load beside libraries, below the folder that their `bin` is in.
const DATA: [&str; 5] = ["lib", "lib64", "share/tessdata", "share/tesseract-ocr", "share/poppler"];

/// Confines this process and all it starts; says whether signals stay inside too.
pub(super) fn confine(programs: &[PathBuf]) -> Result<bool, String> {
    let status = rules(programs)
        .and_then(landlock::RulesetCreated::restrict_self)
        .map_err(|error| error.to_string())?;
    match (status.ruleset, status.landlock) {
        (RulesetStatus::NotEnforced, LandlockStatus::NotImplemented) => {
            Err("the kernel was built without it".into())
        }
        (RulesetStatus::NotEnforced, _) => Err("the kernel has it switched off".into()),
        (_, LandlockStatus::Available { effective_abi, .. }) => Ok(effective_abi >= ABI::V6),
        _ => Ok(false),
    }
}

fn rules(programs: &[PathBuf]) -> Result<RulesetCreated, RulesetError> {
    // The newest that this code was tried with; older kernels enforce what they know of it.
    let abi = ABI::V7;
    let reading: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::ReadDir;
    let rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(abi))?
        .handle_access(AccessNet::from_all(abi))?
        .scope(Scope::from_all(abi))?
        .create()?;
    if programs.is_empty() {
        return Ok(rules);
    }
    let data = programs
        .iter()
        .filter_map(|program| prefix(program))
        .flat_map(|folder| DATA.iter().map(move |name| folder.join(name)).collect::<Vec<_>>());
    rules
        .add_rules(path_beneath_rules(programs, AccessFs::ReadFile | AccessFs::Execute))?
        .add_rules(path_beneath_rules(LOADERS, AccessFs::ReadFile | AccessFs::Execute))?
        .add_rules(path_beneath_rules(LIBRARIES, reading))?
        .add_rules(path_beneath_rules(data, reading))?
        // Their standard input or error, where we have nothing to say or hear.
        .add_rules(path_beneath_rules(["/dev/null"], AccessFs::ReadFile | AccessFs::WriteFile))
}

/// `/usr` for `/usr/bin/tesseract`.
fn prefix(program: &Path) -> Option<PathBuf> {
    Some(std::fs::canonicalize(program).ok()?.parent()?.parent()?.to_path_buf())
}
