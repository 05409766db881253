//! Parses a type and its `#[tool(…)]` attributes, and generates the implementation of `ToolArgs`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::meta::ParseNestedMeta;
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Data, DeriveInput, Error, Expr, ExprLit, Lit, LitInt, LitStr, Meta, Result, Token, parenthesized,
};

/// The parsed declaration of a tool.
struct ToolDeclaration {
    name: String,
    description: String,
    effect: Option<Ident>,
    timeout_ms: Option<u64>,
    tags: Vec<LitStr>,
    /// The other attribute words, each a method of `Declaration`.
    words: Vec<Ident>,
}

pub(crate) fn implementation(input: &DeriveInput) -> Result<TokenStream> {
    if let Data::Union(union) = &input.data {
        return Err(Error::new(union.union_token.span, "arguments are a struct or an enum, not a union"));
    }
    let declared = ToolDeclaration::of(input)?;
    let ToolDeclaration { name, description, tags, words, .. } = &declared;
    let tags = (!tags.is_empty()).then(|| quote! { .tags([#(#tags),*]) });
    let effect = declared.effect.iter();
    let timeout = declared.timeout_ms.iter();
    let (ident, (generics, types, bounds)) = (&input.ident, input.generics.split_for_impl());
    Ok(quote! {
        #[automatically_derived]
        impl #generics ::windlass::ToolArgs for #ident #types #bounds {
            fn declaration() -> ::windlass::Declaration {
                ::windlass::Declaration::new(#name, #description)
                    #(.effect(::windlass::EffectClass::#effect))*
                    #(.timeout(::core::time::Duration::from_millis(#timeout)))*
                    #tags
                    #(.#words())*
            }
        }
    })
}

impl ToolDeclaration {
    fn of(input: &DeriveInput) -> Result<Self> {
        let mut declared = Self {
            name: snake_case(&input.ident.to_string()),
            description: doc_comment(&input.attrs),
            effect: None,
            timeout_ms: None,
            tags: Vec::new(),
            words: Vec::new(),
        };
        for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("tool")) {
            attribute.parse_nested_meta(|word| declared.take(&word))?;
        }
        if declared.description.is_empty() {
            let message = "say what the tool does and when to use it, in a doc comment: it is what the model is told";
            return Err(Error::new(input.ident.span(), message));
        }
        Ok(declared)
    }

    fn take(&mut self, word: &ParseNestedMeta<'_>) -> Result<()> {
        let is = |name: &str| word.path.is_ident(name);
        if is("name") {
            self.name = word.value()?.parse::<LitStr>()?.value();
        } else if is("description") {
            self.description = word.value()?.parse::<LitStr>()?.value();
        } else if is("timeout_ms") {
            self.timeout_ms = Some(word.value()?.parse::<LitInt>()?.base10_parse()?);
        } else if is("tags") {
            return self.take_tags(word);
        } else if is("read_only") {
            return self.set_effect(word, "ReadOnly");
        } else if is("idempotent") {
            return self.set_effect(word, "Idempotent");
        } else if is("verifiable") {
            return self.set_effect(word, "Verifiable");
        } else if is("repeatable") || is("ask_first") {
            self.words.extend(word.path.get_ident().cloned());
        } else {
            return Err(word.error(
                "no such word; there are: name, description, read_only, idempotent, verifiable, timeout_ms, \
                 repeatable, ask_first, tags",
            ));
        }
        Ok(())
    }

    fn take_tags(&mut self, word: &ParseNestedMeta<'_>) -> Result<()> {
        let inner;
        parenthesized!(inner in word.input);
        let tags = Punctuated::<LitStr, Token![,]>::parse_terminated(&inner)?;
        if tags.is_empty() {
            return Err(word.error("name at least one tag: tags(\"web\")"));
        }
        self.tags.extend(tags);
        Ok(())
    }

    fn set_effect(&mut self, word: &ParseNestedMeta<'_>, class: &str) -> Result<()> {
        if self.effect.is_some() {
            return Err(word.error("only one of read_only, idempotent and verifiable"));
        }
        self.effect = Some(Ident::new(class, Span::call_site()));
        Ok(())
    }
}

/// Returns the doc comment with its lines joined unchanged.
fn doc_comment(attributes: &[Attribute]) -> String {
    let line = |attribute: &Attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value().trim().to_owned()),
            _ => None,
        },
        _ => None,
    };
    let lines: Vec<String> = attributes.iter().filter_map(line).collect();
    lines.join("\n").trim().to_owned()
}

/// Converts `ReadFile` to `read_file`; consecutive capitals are one word: `HTTPGet` → `http_get`.
fn snake_case(name: &str) -> String {
    let letters: Vec<char> = name.trim_start_matches("r#").chars().collect();
    let mut snake = String::with_capacity(name.len() + 4);
    for (at, letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| letters.get(at)).copied().unwrap_or('_');
        let ends_row = before.is_uppercase() && letters.get(at + 1).is_some_and(|next| next.is_lowercase());
        if letter.is_uppercase() && before != '_' && (!before.is_uppercase() || ends_row) {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::{implementation, snake_case};

    fn written(input: proc_macro2::TokenStream) -> Result<String, String> {
        let input = syn::parse2(input).expect("a type");
        implementation(&input).map(|tokens| tokens.to_string()).map_err(|error| error.to_string())
    }

    // proves W1
    #[test]
    fn a_type_is_named_in_snake_case() {
        for (name, snake) in [
            ("Forecast", "forecast"),
            ("ReadFile", "read_file"),
            ("HTTPGet", "http_get"),
            ("GetURL", "get_url"),
            ("Sha256Of", "sha256_of"),
            ("r#Match", "match"),
            ("already_snake", "already_snake"),
        ] {
            assert_eq!(snake_case(name), snake, "{name}");
        }
    }

    // proves W1
    #[test]
    fn what_the_type_says_becomes_its_declaration() {
        let code = written(quote! {
            /// Says how warm it is.
            ///
            /// Use it for any city.
            #[tool(name = "weather.now", read_only, timeout_ms = 500, repeatable)]
            #[tool(ask_first, tags("weather", "web"))]
            struct Now<T: Clone> where T: Send { city: T }
        })
        .expect("sound");
        for part in [
            "impl < T : Clone > :: windlass :: ToolArgs for Now < T > where T : Send",
            r#"new ("weather.now" , "Says how warm it is.\n\nUse it for any city.")"#,
            "EffectClass :: ReadOnly",
            "from_millis (500u64)",
            r#". tags (["weather" , "web"]) . repeatable () . ask_first ()"#,
        ] {
            assert!(code.contains(part), "{part} is not in: {code}");
        }
    }

    // proves W1
    #[test]
    fn what_can_not_be_declared_is_said() {
        for (input, said) in [
            (quote! { struct Bare { city: String } }, "doc comment"),
            (quote! { #[tool(description = "d", readonly)] struct Typo; }, "no such word"),
            (quote! { #[tool(description = "d", read_only, idempotent)] struct Both; }, "only one of"),
            (quote! { #[tool(description = "d", timeout_ms = "long")] struct Words; }, "integer"),
            (quote! { #[tool(description = "d", tags())] struct Untold; }, "at least one tag"),
            (quote! { #[tool(description = "d", tags("a" "b"))] struct Row; }, "expected `,`"),
            (quote! { #[doc = "d"] union Either { a: u8, b: i8 } }, "not a union"),
        ] {
            let error = written(input).expect_err(said);
            assert!(error.contains(said), "{said} is not in: {error}");
        }
    }
}
