//! Failures.

use windlass_vocab::{Failure, FailureCause, FailureClass, SpentElsewhere};

use super::{every, runs};

fn full() -> Failure {
    Failure {
        class: FailureClass::Internal,
        message: "It failed.".into(),
        retry_after_ms: Some(2_000),
        status: Some(503),
        first_byte: true,
        no_tools: true,
        output_refused: true,
        no_model: true,
        not_running: true,
        cause: Some(FailureCause::Unreachable),
        spent_elsewhere: Some(Box::new(SpentElsewhere { day: runs::spending(), agent: runs::spending() })),
    }
}

pub(super) fn all() -> Vec<Failure> {
    let classes = every!(FailureClass:
        Transient, Quota, Auth, BadRequest, Overflow, Filtered, Protocol, Store, Internal,
    );
    let causes = every!(FailureCause: WrongAddress, Unreachable, UntrustedCertificate, NotCalled, ImageRefused);
    let classes = classes.into_iter().map(|class| Failure { class, ..full() });
    let causes = causes.into_iter().map(|cause| Failure { cause: Some(cause), ..full() });
    classes.chain(causes).collect()
}
