//! Reads docs/events.md: a heading `` ### `Name` `` defines a type, the table below it says which. Three tables are
//! read: `| field | type | meaning |` is an object, `| one of | meaning |` a choice, and each row of
//! `| name | type | meaning |` another name of a type. A type without a table is an empty object. The last table maps the
//! names of other designs; it is only checked.

use std::collections::BTreeSet;

use super::page_type::{BUILT_IN, PageField, PageType};

/// What is wrong with the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PageError {
    pub(crate) line: usize,
    pub(crate) what: String,
}

/// The part of the page in which a type is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PagePart {
    Envelopes,
    Records,
    Deltas,
    Types,
}

/// A type of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Definition {
    pub(super) name: String,
    line: usize,
    pub(super) part: PagePart,
    /// The first paragraph below the heading.
    pub(super) meaning: String,
    pub(super) shape: Shape,
}

/// What a type is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Fields(Vec<PageField>),
    OneOf(Vec<Case>),
    Same(PageType),
}

/// One of the values that a type may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Case {
    pub(super) of: PageType,
    pub(super) meaning: String,
}

/// A row of the last table: a name in another design, and our kinds that stand for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MappedName {
    line: usize,
    pub(super) design: String,
    pub(super) name: String,
    pub(super) ours: Vec<String>,
}

/// What the page says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct EventsPage {
    pub(super) definitions: Vec<Definition>,
    pub(super) mapped: Vec<MappedName>,
}

/// Names that stand for the kind and its body in an envelope.
const PARAMETERS: [&str; 2] = ["Kind", "Body"];

/// The table that the lines belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TableKind {
    Fields,
    OneOf,
    Names,
    Mapping,
    None,
}

impl TableKind {
    fn of_head(cells: &[String]) -> Option<Self> {
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        match cells.as_slice() {
            ["field", "type", "meaning"] => Some(Self::Fields),
            ["one of", "meaning"] => Some(Self::OneOf),
            ["name", "type", "meaning"] => Some(Self::Names),
            ["design", "its event", "ours", "how to derive it"] => Some(Self::Mapping),
            _ => None,
        }
    }
}

impl EventsPage {
    /// Reads the page, and checks that every name in it is defined once.
    pub(super) fn read(text: &str) -> Result<Self, PageError> {
        let mut page = Self::default();
        let mut reader = PageReader { part: PagePart::Types, table: TableKind::None };
        let mut is_code = false;
        for (line, words) in (1..).zip(text.lines()) {
            is_code ^= words.starts_with("```");
            if !is_code {
                reader.take(&mut page, line, words).map_err(|what| PageError { line, what })?;
            }
        }
        page.check()?;
        Ok(page)
    }

    /// The type of this name.
    #[cfg(test)]
    pub(super) fn definition(&self, name: &str) -> Option<&Definition> {
        self.definitions.iter().find(|definition| definition.name == name)
    }

    /// The names of the types in this part.
    pub(super) fn names(&self, part: PagePart) -> impl Iterator<Item = &str> {
        let of_part = self.definitions.iter().filter(move |definition| definition.part == part);
        of_part.map(|definition| definition.name.as_str())
    }

    fn check(&self) -> Result<(), PageError> {
        let mut known = BTreeSet::from(BUILT_IN);
        for definition in &self.definitions {
            if !known.insert(&definition.name) {
                let what = format!("`{}` is defined twice", definition.name);
                return Err(PageError { line: definition.line, what });
            }
        }
        for definition in &self.definitions {
            let is_known = |name: &&str| {
                known.contains(name) || definition.part == PagePart::Envelopes && PARAMETERS.contains(name)
            };
            if let Some(name) = definition.shape.names().into_iter().find(|name| !is_known(name)) {
                let what = format!("`{}` has the type `{name}`, which is not defined", definition.name);
                return Err(PageError { line: definition.line, what });
            }
        }
        let kinds: BTreeSet<&str> = self.names(PagePart::Records).chain(self.names(PagePart::Deltas)).collect();
        for MappedName { line, name, ours, .. } in &self.mapped {
            if let Some(kind) = ours.iter().find(|kind| !kinds.contains(kind.as_str())) {
                return Err(PageError {
                    line: *line,
                    what: format!("{name} is mapped to `{kind}`, which is no event"),
                });
            }
        }
        Ok(())
    }
}

impl Shape {
    fn names(&self) -> Vec<&str> {
        match self {
            Self::Fields(fields) => fields.iter().flat_map(|field| field.of.names()).collect(),
            Self::OneOf(cases) => cases.iter().flat_map(|case| case.of.names()).collect(),
            Self::Same(of) => of.names(),
        }
    }
}

/// Where on the page the next line stands.
struct PageReader {
    part: PagePart,
    table: TableKind,
}

impl PageReader {
    fn take(&mut self, page: &mut EventsPage, line: usize, words: &str) -> Result<(), String> {
        if let Some(title) = words.strip_prefix("## ") {
            self.part = match title {
                "Envelopes" => PagePart::Envelopes,
                "Records" => PagePart::Records,
                "Deltas" => PagePart::Deltas,
                _ => PagePart::Types,
            };
        } else if let Some(title) = words.strip_prefix("### ") {
            let (name, meaning) = (in_code(title)?.to_owned(), String::new());
            page.definitions.push(Definition {
                name,
                line,
                part: self.part,
                meaning,
                shape: Shape::Fields(Vec::new()),
            });
        } else if words.starts_with('|') {
            return self.row(page, line, &cells(words)?);
        } else if let Some(last) = page.definitions.last_mut().filter(|last| last.meaning.is_empty()) {
            words.trim().clone_into(&mut last.meaning);
        }
        self.table = TableKind::None;
        Ok(())
    }

    fn row(&mut self, page: &mut EventsPage, line: usize, cells: &[String]) -> Result<(), String> {
        if cells.iter().all(|cell| cell == "---") {
            return Ok(());
        }
        if self.table == TableKind::None {
            self.table = TableKind::of_head(cells).ok_or("a table with another head than those that are read")?;
            return Ok(());
        }
        let last = page.definitions.last_mut();
        match (self.table, cells) {
            (TableKind::Fields, [name, of, meaning]) => {
                let shape = &mut last.ok_or("fields of no type")?.shape;
                let Shape::Fields(fields) = shape else { return Err("fields beside another table".to_owned()) };
                fields.push(field(name, of, meaning)?);
            }
            (TableKind::OneOf, [of, meaning]) => {
                let shape = &mut last.ok_or("a choice of no type")?.shape;
                let case = Case { of: PageType::read(in_code(of)?)?, meaning: meaning.clone() };
                match shape {
                    Shape::OneOf(cases) => cases.push(case),
                    Shape::Fields(fields) if fields.is_empty() => *shape = Shape::OneOf(vec![case]),
                    Shape::Fields(_) | Shape::Same(_) => return Err("a choice beside another table".to_owned()),
                }
            }
            (TableKind::Names, [name, of, meaning]) => {
                let shape = Shape::Same(PageType::read(in_code(of)?)?);
                let (name, meaning) = (in_code(name)?.to_owned(), meaning.clone());
                page.definitions.push(Definition { name, line, part: self.part, meaning, shape });
            }
            (TableKind::Mapping, [design, name, ours, _]) => {
                let ours = ours.split(", ").map(|kind| in_code(kind).map(str::to_owned)).collect::<Result<_, _>>()?;
                let (design, name) = (in_code(design)?.to_owned(), name.clone());
                page.mapped.push(MappedName { line, design, name, ours });
            }
            _ => return Err("a row with another number of cells than its table".to_owned()),
        }
        Ok(())
    }
}

fn field(name: &str, of: &str, meaning: &str) -> Result<PageField, String> {
    let name = in_code(name)?;
    let bare = name.strip_suffix('?');
    let of = PageType::read(in_code(of)?)?;
    let meaning = meaning.to_owned();
    Ok(PageField { name: bare.unwrap_or(name).to_owned(), is_optional: bare.is_some(), of, meaning })
}

/// The cells of a row; `\|` within one is a bar.
fn cells(row: &str) -> Result<Vec<String>, String> {
    let row = row.trim().replace("\\|", "\0");
    let row = row.strip_prefix('|').and_then(|row| row.strip_suffix('|')).ok_or("a row that does not end with `|`")?;
    Ok(row.split('|').map(|cell| cell.trim().replace('\0', "|")).collect())
}

/// The text between backticks.
fn in_code(text: &str) -> Result<&str, String> {
    let code = text.strip_prefix('`').and_then(|text| text.strip_suffix('`'));
    code.filter(|code| !code.is_empty() && !code.contains('`')).ok_or_else(|| format!("`{text}` is not in backticks"))
}
