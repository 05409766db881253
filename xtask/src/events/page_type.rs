//! The types in the tables of docs/events.md, in the notation of TypeScript.

use std::fmt;

/// Types that the page does not define.
pub(super) const BUILT_IN: [&str; 4] = ["string", "number", "boolean", "unknown"];

/// A type as the page writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PageType {
    /// `string`, or a type of the page.
    Name(String),
    /// `"read_only"`.
    Literal(String),
    /// `string[]`.
    List(Box<Self>),
    /// `[SessionId, CallId]`.
    Tuple(Vec<Self>),
    /// `{ [path: string]: FileState }`: what the keys are, and the type of the values.
    Map(String, Box<Self>),
    /// `{ is: "file", inode?: number }`.
    Object(Vec<PageField>),
}

/// A field of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PageField {
    pub(super) name: String,
    /// Whether it may be left out.
    pub(super) is_optional: bool,
    pub(super) of: PageType,
    /// Empty for a field within a type.
    pub(super) meaning: String,
}

impl PageType {
    /// Reads a type; the error says what is wrong with it.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let mut words = TypeWords { rest: text };
        let read = words.read_type()?;
        if words.rest.trim().is_empty() { Ok(read) } else { Err(format!("`{}` after the type", words.rest.trim())) }
    }

    /// The names in it.
    pub(super) fn names(&self) -> Vec<&str> {
        match self {
            Self::Name(name) => vec![name],
            Self::Literal(_) => Vec::new(),
            Self::List(of) | Self::Map(_, of) => of.names(),
            Self::Tuple(all) => all.iter().flat_map(Self::names).collect(),
            Self::Object(fields) => fields.iter().flat_map(|field| field.of.names()).collect(),
        }
    }
}

/// The form in which TypeScript has it.
impl fmt::Display for PageType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Literal(text) => write!(f, "\"{text}\""),
            Self::List(of) => write!(f, "{of}[]"),
            Self::Tuple(all) => {
                let all: Vec<String> = all.iter().map(Self::to_string).collect();
                write!(f, "[{}]", all.join(", "))
            }
            Self::Map(key, of) => write!(f, "{{ [{key}: string]: {of} }}"),
            Self::Object(fields) => {
                let fields: Vec<String> = fields.iter().map(PageField::to_string).collect();
                write!(f, "{{ {} }}", fields.join("; "))
            }
        }
    }
}

impl fmt::Display for PageField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}: {}", self.name, if self.is_optional { "?" } else { "" }, self.of)
    }
}

/// The unread rest of a type.
struct TypeWords<'a> {
    rest: &'a str,
}

impl<'a> TypeWords<'a> {
    /// Passes over this sign, if it is next.
    fn has(&mut self, sign: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(sign);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, sign: &str) -> Result<(), String> {
        if self.has(sign) { Ok(()) } else { Err(format!("no `{sign}` before `{}`", self.rest.trim_start())) }
    }

    fn name(&mut self) -> Result<&'a str, String> {
        let rest = self.rest.trim_start();
        let (name, after) = rest.split_at(rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len()));
        if name.is_empty() {
            return Err(format!("no name before `{rest}`"));
        }
        self.rest = after;
        Ok(name)
    }

    fn read_type(&mut self) -> Result<PageType, String> {
        let mut read = if self.has("\"") {
            let (text, rest) = self.rest.split_once('"').ok_or("a quote that does not end")?;
            self.rest = rest;
            PageType::Literal(text.to_owned())
        } else if self.has("[") {
            PageType::Tuple(self.list("]", Self::read_type)?)
        } else if self.has("{") {
            if self.has("[") { self.map()? } else { PageType::Object(self.list("}", Self::field)?) }
        } else {
            PageType::Name(self.name()?.to_owned())
        };
        while self.has("[]") {
            read = PageType::List(Box::new(read));
        }
        Ok(read)
    }

    /// Reads what stands between commas, up to `end`.
    fn list<T>(&mut self, end: &str, one: fn(&mut Self) -> Result<T, String>) -> Result<Vec<T>, String> {
        let mut all = vec![one(self)?];
        while self.has(",") {
            all.push(one(self)?);
        }
        self.expect(end)?;
        Ok(all)
    }

    /// Reads a map after its `{ [`.
    fn map(&mut self) -> Result<PageType, String> {
        let key = self.name()?.to_owned();
        for sign in [":", "string", "]", ":"] {
            self.expect(sign)?;
        }
        let of = self.read_type()?;
        self.expect("}")?;
        Ok(PageType::Map(key, Box::new(of)))
    }

    fn field(&mut self) -> Result<PageField, String> {
        let name = self.name()?.to_owned();
        let is_optional = self.has("?");
        self.expect(":")?;
        Ok(PageField { name, is_optional, of: self.read_type()?, meaning: String::new() })
    }
}
