//! How the page is read, and what is written from it.

use crate::events::page_type::PageType;
use crate::events::types;

#[test]
fn a_type_is_written_as_it_was_read() {
    for text in [
        "string",
        "ToolName[]",
        "number[][]",
        "[SessionId, CallId]",
        "\"read_only\"",
        "{ [path: string]: FileState }",
        "{ [path: string]: string[] }[]",
        "{ is: \"file\"; inode?: number }",
        "{ form: { schema: Json } }",
    ] {
        assert_eq!(PageType::read(&text.replace(';', ",")).map(|read| read.to_string()), Ok(text.to_owned()));
    }
}

#[test]
fn what_is_no_type_is_refused() {
    for (text, why) in [
        ("", "no name before ``"),
        ("string number", "`number` after the type"),
        ("\"open", "a quote that does not end"),
        ("[string", "no `]` before ``"),
        ("{ name string }", "no `:` before `string }`"),
        ("{ [path: number]: string }", "no `string` before `number]: string }`"),
        ("{}", "no name before `}`"),
    ] {
        assert_eq!(PageType::read(text), Err(why.to_owned()), "{text}");
    }
}

const PAGE: &str = "\
# Events

## Envelopes

### `RecordEnvelope`

With its place.

| field | type | meaning |
|---|---|---|
| `kind` | `Kind` | What. |
| `body` | `Body` | More. |

## Records

### `Hoisted`

Up it went.

| field | type | meaning |
|---|---|---|
| `by?` | `Sailor[]` | Who, a \\| b. |

## Deltas

### `Creaked`

It made a sound. Its body is empty.

## Names

| name | type | meaning |
|---|---|---|
| `Sailor` | `string` | A name. |

### `Side`

Where.

| one of | meaning |
|---|---|
| `\"port\"` | Left. |
| `{ other: Sailor }` | With */ somebody. |

## Names in other designs

| design | its event | ours | how to derive it |
|---|---|---|---|
| `task` | UP | `Hoisted`, `Creaked` | So. |
";

const TYPES: &str = "
/** With its place. */
export interface RecordEnvelope<Kind extends string, Body> {
  /** What. */
  kind: Kind;
  /** More. */
  body: Body;
}

/** Up it went. */
export interface Hoisted {
  /** Who, a | b. */
  by?: Sailor[];
}

/** It made a sound. Its body is empty. */
export type Creaked = Record<string, never>;

/** A name. */
export type Sailor = string;

/** Where. */
export type Side =
  /** Left. */
  | \"port\"
  /** With *\\/ somebody. */
  | { other: Sailor };

/** A record, as it is stored and sent. */
export type RecordEvent =
  | RecordEnvelope<\"Hoisted\", Hoisted>;

/** A delta, which is only sent. */
export type DeltaEvent =
  | DeltaEnvelope<\"Creaked\", Creaked>;

/** An event of a session; a later version may send kinds that are not listed here. */
export type SessionEvent = RecordEvent | DeltaEvent;
";

// proves E3
#[test]
fn the_page_generates_the_types() {
    let written = types(PAGE).unwrap();
    assert_eq!(written.split_once('\n').unwrap().1, TYPES);
}

#[test]
fn what_is_wrong_with_a_page_is_said_with_its_line() {
    for (from, to, line, what) in [
        ("`Sailor[]`", "`Pirate[]`", 16, "`Hoisted` has the type `Pirate`, which is not defined"),
        ("`Sailor` |", "`Side` |", 36, "`Side` is defined twice"),
        ("`Hoisted`, `Creaked`", "`Lowered`", 49, "UP is mapped to `Lowered`, which is no event"),
        ("| one of |", "| some of |", 40, "a table with another head than those that are read"),
        ("| Left. |", "| Left. | Red. |", 42, "a row with another number of cells than its table"),
        ("| Left. |", "| Left.", 42, "a row that does not end with `|`"),
        ("`by?`", "by?", 22, "`by?` is not in backticks"),
    ] {
        let error = types(&PAGE.replacen(from, to, 1)).unwrap_err();
        assert_eq!((error.line, error.what.as_str()), (line, what));
    }
}
