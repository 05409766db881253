//! `${VAR}` and `${VAR:-default}` in the configuration of a server.

/// Why a text could not be expanded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ExpandError {
    #[error("`{0}` is not set: set it, or write ${{{0}:-…}} with what is to stand in for it")]
    Unset(String),
    #[error("`${{` without a `}}` in `{0}`")]
    Open(String),
    #[error("`${{{0}}}` names no variable: use letters, digits and `_`")]
    Name(String),
}

/// Replaces each variable in `text` by its value. A `$` without `{` is kept.
pub(crate) fn expand(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, ExpandError> {
    let (mut expanded, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("${") {
        expanded.push_str(before);
        let (inside, after) = after.split_once('}').ok_or_else(|| ExpandError::Open(text.to_owned()))?;
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return Err(ExpandError::Name(inside.to_owned()));
        }
        // An empty value counts as unset if there is a default, as in a shell.
        match (variable(name).filter(|value| default.is_none() || !value.is_empty()), default) {
            (Some(value), _) => expanded.push_str(&value),
            (None, Some(default)) => expanded.push_str(default),
            (None, None) => return Err(ExpandError::Unset(name.to_owned())),
        }
        rest = after;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(text: &str) -> Result<String, ExpandError> {
        expand(text, &|name| match name {
            "HOME" => Some("/home/me".into()),
            "EMPTY" => Some(String::new()),
            "NESTED" => Some("${HOME}".into()),
            _ => None,
        })
    }

    // proves P1
    #[test]
    fn variables_are_put_in_once_and_the_rest_stays() {
        for (text, want) in [
            ("plain $5 {x} $HOME", "plain $5 {x} $HOME"),
            ("${HOME}/a:${HOME}", "/home/me/a:/home/me"),
            ("${MISSING:-b c}d", "b cd"),
            ("${EMPTY:-x}${EMPTY}", "x"),
            ("${MISSING:-}", ""),
            ("${NESTED}", "${HOME}"),
        ] {
            assert_eq!(expanded(text).as_deref(), Ok(want), "{text}");
        }
    }

    // proves P1
    #[test]
    fn what_is_not_set_is_named() {
        assert_eq!(expanded("a${MISSING}"), Err(ExpandError::Unset("MISSING".into())));
        assert!(expanded("a${HOME").unwrap_err().to_string().contains("without a `}`"));
        assert!(matches!(expanded("${a b}"), Err(ExpandError::Name(_))));
        assert!(matches!(expanded("${}"), Err(ExpandError::Name(_))));
    }
}
