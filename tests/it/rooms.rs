//! The direction of imports: between the rooms of `src`, and between the files of a room.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The rooms in the order of the data. A room imports itself and those before it.
const ORDER: [&str; 19] = [
    // Modules of one file that everything may use.
    "clock",
    "limits",
    "files",
    "words",
    "duration",
    "secret",
    "environment",
    "yaml",
    "config",
    "statement",
    "source",
    "sample",
    "state",
    "state_file",
    "sampler",
    "exposition",
    "web",
    "exporter",
    "demo",
];

/// The rooms at the end, which may import everything.
const LAST: [&str; 1] = ["cli"];

/// A module: the names in its path below `crate`.
type Module = Vec<String>;

/// Modules, and the modules of this crate that they name.
type Imports = BTreeMap<Module, BTreeSet<Module>>;

#[test]
fn no_room_imports_a_room_that_comes_later() {
    let place = |room: &str| ORDER.iter().chain(&LAST).position(|known| *known == room);
    let mut wrong = BTreeSet::new();
    for (module, imported) in imports() {
        let from = place(&module[0]).unwrap_or_else(|| panic!("{} has no place in the order", module[0]));
        for target in imported {
            if place(&target[0]) > Some(from) {
                wrong.insert(format!("{} -> {}", module.join("::"), target[0]));
            }
        }
    }
    assert!(wrong.is_empty(), "imports against the order: {wrong:#?}");
}

#[test]
fn the_files_of_a_room_import_each_other_in_no_circle() {
    let mut imports = imports();
    // A module and its submodules belong together.
    for (module, imported) in &mut imports {
        imported.retain(|target| !target.starts_with(module) && !module.starts_with(target));
    }
    // A module that imports nothing that is left, or that nothing left imports, is in no cycle.
    loop {
        let before = imports.values().map(BTreeSet::len).sum::<usize>();
        let imported: BTreeSet<Module> = imports.values().flatten().cloned().collect();
        imports.retain(|module, targets| !targets.is_empty() && imported.contains(module));
        let importing: BTreeSet<Module> = imports.keys().cloned().collect();
        imports.values_mut().for_each(|targets| targets.retain(|target| importing.contains(target)));
        if imports.values().map(BTreeSet::len).sum::<usize>() == before {
            break;
        }
    }
    let edges = imports.iter().flat_map(|(module, targets)| {
        targets.iter().map(move |target| format!("{} -> {}", module.join("::"), target.join("::")))
    });
    assert_eq!(edges.collect::<Vec<_>>(), Vec::<String>::new(), "imports in a circle");
}

#[test]
fn paths_are_found_in_groups_and_in_expressions() {
    let code = "use crate::a::{self, b::C, d::{E, F as G}};\nlet x = super::h::I::new(crate::j);\n";
    let expected = ["crate a self", "crate a b C", "crate a d E", "crate a d F", "super h I new", "crate j"];
    assert_eq!(paths(code).iter().map(|path| path.join(" ")).collect::<Vec<_>>(), expected);
}

/// The imports of every module, without its tests.
fn imports() -> Imports {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut sources = BTreeMap::new();
    read(&root, &mut Vec::new(), &mut sources);
    let resolve = |module: &Module, path: &[&str]| -> Option<Module> {
        let mut found = if path[0] == "crate" { Vec::new() } else { module.clone() };
        for name in path {
            match *name {
                "crate" | "self" => {}
                "super" => drop(found.pop()?),
                name => found.push(name.to_owned()),
            }
        }
        // The rest of the path is an item of the module.
        while !found.is_empty() && !sources.contains_key(&found) {
            found.pop();
        }
        (!found.is_empty() && found != *module).then_some(found)
    };
    let of = |(module, code): (&Module, &String)| {
        let imported = paths(code).iter().filter_map(|path| resolve(module, path)).collect();
        (module.clone(), imported)
    };
    sources.iter().map(of).collect()
}

/// The code of each module in a folder, without comments and tests.
fn read(folder: &Path, module: &mut Module, sources: &mut BTreeMap<Module, String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if name == "tests" || (module.is_empty() && ["lib", "main"].contains(&name.as_str())) {
            continue;
        }
        if path.is_dir() {
            module.push(name);
            read(&path, module, sources);
            module.pop();
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let mut own = module.clone();
            own.extend((name != "mod").then_some(name));
            let text = std::fs::read_to_string(&path).unwrap();
            let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            sources.insert(own, code.map(|line| format!("{line}\n")).collect());
        }
    }
}

/// The paths that begin at `crate`, `self` or `super`, those in groups of a `use` included.
fn paths(code: &str) -> Vec<Vec<&str>> {
    let mut found = Vec::new();
    for (start, _) in code.match_indices("::") {
        let before = code[..start].trim_end_matches(is_of_name);
        let begins = ["crate", "self", "super"].contains(&&code[before.len()..start]);
        if begins && !before.ends_with("::") {
            expand(&code[before.len()..], Vec::new(), &mut found);
        }
    }
    found
}

fn is_of_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

fn expand<'a>(code: &'a str, mut path: Vec<&'a str>, found: &mut Vec<Vec<&'a str>>) {
    let code = code.trim_start();
    if let Some(group) = code.strip_prefix('{') {
        for item in items(group) {
            expand(item, path.clone(), found);
        }
        return;
    }
    let (name, rest) = code.split_at(code.find(|character| !is_of_name(character)).unwrap_or(code.len()));
    if name.is_empty() {
        // `*`, or the comma that ends a group.
        return;
    }
    path.push(name);
    match rest.strip_prefix("::") {
        Some(rest) => expand(rest, path, found),
        None => found.push(path),
    }
}

/// The items of a group whose brace is open.
fn items(group: &str) -> Vec<&str> {
    let (mut items, mut start, mut depth) = (Vec::new(), 0, 0);
    for (at, character) in group.char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth == 0 => {
                items.push(&group[start..at]);
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                items.push(&group[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    items
}
