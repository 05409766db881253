//! Here-documents in a shell script: one without an end shows that the block around it was closed too early, by a fence
//! that belongs to the text that the script writes.

/// A here-document that a line opens.
struct HereDocument {
    word: String,
    tabs: LeadingTabs,
}

/// Whether the line that ends a here-document may be indented.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LeadingTabs {
    Kept,
    Stripped,
}

impl HereDocument {
    fn is_ended_by(&self, line: &str) -> bool {
        let line = match self.tabs {
            LeadingTabs::Kept => line,
            LeadingTabs::Stripped => line.trim_start_matches('\t'),
        };
        line == self.word
    }
}

/// Returns the word whose line is missing, if a script ends inside a here-document.
pub(super) fn missing_end(script: &str) -> Option<String> {
    let mut lines = script.lines();
    let mut quote = None;
    while let Some(line) = lines.next() {
        let missing =
            opened(line, &mut quote).into_iter().find(|document| !lines.any(|line| document.is_ended_by(line)));
        if let Some(document) = missing {
            return Some(document.word);
        }
    }
    None
}

/// Returns the here-documents that a line opens. `quote` is the quotation mark that is open at its beginning, and is set to
/// the one at its end.
fn opened(line: &str, quote: &mut Option<char>) -> Vec<HereDocument> {
    let mut documents = Vec::new();
    let (mut rest, mut before) = (line, ' ');
    while let Some(c) = rest.chars().next() {
        let mut taken = c.len_utf8();
        let escaped = || rest.chars().take(2).map(char::len_utf8).sum();
        match (*quote, c) {
            (Some('"') | None, '\\') => taken = escaped(),
            (Some(open), c) if open == c => *quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => *quote = Some(c),
            (None, '#') if before.is_whitespace() => return documents,
            // Numbers may be shifted there.
            (None, '(') if rest.starts_with("((") => taken = rest.find("))").unwrap_or(rest.len()),
            (None, '<') if rest.starts_with("<<<") => taken = 3,
            (None, '<') if rest.starts_with("<<") => {
                let behind = &rest[2..];
                let (tabs, behind) = match behind.strip_prefix('-') {
                    Some(behind) => (LeadingTabs::Stripped, behind),
                    None => (LeadingTabs::Kept, behind),
                };
                let behind = behind.trim_start_matches([' ', '\t']);
                let end = behind.find(|c: char| c.is_whitespace() || ";|&<>()".contains(c)).unwrap_or(behind.len());
                let word: String = behind[..end].chars().filter(|c| !"'\"\\".contains(*c)).collect();
                if !word.is_empty() {
                    documents.push(HereDocument { word, tabs });
                }
                taken = rest.len() - behind.len() + end;
            }
            (None, _) => {}
        }
        before = c;
        rest = &rest[taken..];
    }
    documents
}

#[cfg(test)]
mod tests {
    use super::missing_end;

    // proves T4
    #[test]
    fn a_script_that_ends_inside_a_here_document_is_recognized() {
        for (script, word) in [
            ("cat > a <<EOF\ntext", "EOF"),
            ("cat > a << 'EOF'\n# Title\n```sh\ncargo run", "EOF"),
            ("cat <<-\"END\" > a\n\tEND x", "END"),
            ("cat <<A <<B\na\nA\nb", "B"),
            ("cat <<\\EOF\n EOF", "EOF"),
            ("echo 'it' && cat <<É\né", "É"),
            ("echo \"a\nb\"; cat <<EOF", "EOF"),
        ] {
            assert_eq!(missing_end(script).as_deref(), Some(word), "{script}");
        }
    }

    // proves T4: what only looks like one holds up no script
    #[test]
    fn other_scripts_are_whole() {
        for script in [
            "",
            "ls",
            "cat > a <<EOF\nit's\nEOF\nls",
            "cat <<-EOF\n\ta\n\tEOF",
            "cat <<A <<B\na\nA\nb\nB",
            "cat <<'EOF' | sort; echo x\nb\nEOF",
            "grep x <<< EOF",
            "echo $((1 << 3)) $((2<<x))",
            "echo 'a <<EOF' \"b <<EOF\" \\<<a",
            "# cat <<EOF\nls",
            "awk '{\n print 1 <<EOF\n}' a",
            "cat <<EOF\r\na\r\nEOF\r\n",
        ] {
            assert_eq!(missing_end(script), None, "{script}");
        }
    }
}
