//! The ids of calls in a request, the same on all wires: the provider's own where the server accepts it and no earlier
//! call of the request has it, else one of ours. Some servers repeat ids, and a history may have been made with several
//! servers; a request in which two calls share an id is refused, and so is each one after it (J10).

use std::borrow::Cow;
use std::collections::HashMap;

use windlass_vocab::CallId;

use crate::ability::CallIdForm;

/// The ids that the calls of a request have so far.
#[derive(Debug, Default)]
pub(crate) struct CallIds {
    /// The first call with each id.
    owners: HashMap<String, CallId>,
}

impl CallIds {
    /// Returns the id of a call, for the call itself and for its result.
    pub(crate) fn id<'a>(&mut self, form: CallIdForm, call: CallId, provider_id: Option<&'a str>) -> Cow<'a, str> {
        match provider_id.filter(|id| form.accepts(id)) {
            Some(id) if self.is_owner(call, id) => Cow::Borrowed(id),
            Some(_) | None => {
                let mut own = form.own_id(call);
                while !self.is_owner(call, &own) {
                    own.push('_');
                }
                Cow::Owned(own)
            }
        }
    }

    fn is_owner(&mut self, call: CallId, id: &str) -> bool {
        if let Some(owner) = self.owners.get(id) {
            return *owner == call;
        }
        self.owners.insert(id.to_owned(), call);
        true
    }
}

impl CallIdForm {
    fn accepts(self, id: &str) -> bool {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        match self {
            Self::Any => !id.is_empty(),
            Self::UpTo40 => (1..=40).contains(&id.len()),
            Self::Plain => (1..=64).contains(&id.len()) && id.bytes().all(is_plain),
            Self::NineCharacters => id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()),
        }
    }

    /// Returns our own id of a call: no two calls of a session have the same.
    fn own_id(self, call: CallId) -> String {
        match self {
            Self::Any | Self::UpTo40 | Self::Plain => format!("call_{}_{}_{}", call.run, call.turn, call.index),
            Self::NineCharacters => nine_characters(call),
        }
    }
}

/// Returns the numbers of a call in nine letters and digits, which hold 53 bits: 20 for the run, 20 for the turn and 13
/// for the index. Numbers too large for that are cut, which no session comes near to.
fn nine_characters(call: CallId) -> String {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let low = |number: u32, bits: u32| u64::from(number) & ((1 << bits) - 1);
    let mut rest = (low(call.run.0, 20) << 33) | (low(call.turn.0, 20) << 13) | low(call.index, 13);
    let mut digits = [b'0'; 9];
    for digit in digits.iter_mut().rev() {
        *digit = usize::try_from(rest % 62).map_or(b'0', |place| DIGITS[place]);
        rest /= 62;
    }
    digits.map(char::from).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use windlass_vocab::{CallId, RunId, TurnId};

    use super::{CallIdForm, CallIds};

    fn call(run: u32, turn: u32, index: u32) -> CallId {
        CallId { run: RunId(run), turn: TurnId(turn), index }
    }

    // proves J10: what one server calls a call may be refused by the next
    #[test]
    fn an_id_is_the_providers_where_the_server_accepts_it() {
        let long = "x".repeat(41);
        for (form, provider_id, expected) in [
            (CallIdForm::Any, Some("functions.read:0"), "functions.read:0"),
            (CallIdForm::Any, Some(long.as_str()), long.as_str()),
            (CallIdForm::Any, Some(""), "call_1_2_3"),
            (CallIdForm::Any, None, "call_1_2_3"),
            (CallIdForm::UpTo40, Some("functions.read:0"), "functions.read:0"),
            (CallIdForm::UpTo40, Some(&long), "call_1_2_3"),
            (CallIdForm::Plain, Some("toolu_01-x"), "toolu_01-x"),
            (CallIdForm::Plain, Some("functions.read:0"), "call_1_2_3"),
            (CallIdForm::NineCharacters, Some("D681PevKs"), "D681PevKs"),
            (CallIdForm::NineCharacters, Some("call_12.a"), "0009NKYeR"),
            (CallIdForm::NineCharacters, None, "0009NKYeR"),
        ] {
            assert_eq!(CallIds::default().id(form, call(1, 2, 3), provider_id), expected, "{form:?} {provider_id:?}");
        }
    }

    // proves J10: two calls never share an id, and each result has that of its call
    #[test]
    fn a_repeated_id_stays_with_its_first_call() {
        let mut ids = CallIds::default();
        let (first, second) = (call(1, 1, 0), call(1, 2, 0));
        for _call_and_result in 0..2 {
            assert_eq!(ids.id(CallIdForm::Any, first, Some("call_0")), "call_0");
            assert_eq!(ids.id(CallIdForm::Any, second, Some("call_0")), "call_1_2_0");
            // A provider may name its calls as we do.
            assert_eq!(ids.id(CallIdForm::Any, call(1, 3, 0), Some("call_1_4_0")), "call_1_4_0");
            assert_eq!(ids.id(CallIdForm::Any, call(1, 4, 0), None), "call_1_4_0_");
        }
    }

    #[test]
    fn our_ids_of_nine_characters_are_legal_and_differ() {
        let largest = (1 << 20) - 1;
        let calls = [call(0, 0, 0), call(0, 0, 1), call(0, 1, 0), call(1, 0, 0), call(largest, largest, 8_191)];
        let ids: BTreeSet<String> = calls.map(|call| CallIdForm::NineCharacters.own_id(call)).into();
        assert_eq!(ids.len(), calls.len());
        assert!(ids.iter().all(|id| CallIdForm::NineCharacters.accepts(id)), "{ids:?}");
    }
}
