//! Runs blocking work on threads of the async runtime, a few at a time, so that a thousand concurrent callers don't
//! each start a thread and open a connection.

use std::sync::Arc;

use tokio::sync::Semaphore;

/// How many callers work at the same time.
const AT_ONCE: usize = 4;

/// Lets [`AT_ONCE`] callers work at the same time; the others wait in order.
#[derive(Clone, Debug)]
pub(super) struct BlockingLimit(Arc<Semaphore>);

impl Default for BlockingLimit {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(AT_ONCE)))
    }
}

impl BlockingLimit {
    /// Runs `work`; `None` if it panicked or the runtime is shutting down. Work that has started keeps its permit until
    /// it is done, even if its caller stopped waiting.
    pub(super) async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let permit = Arc::clone(&self.0).acquire_owned().await.ok()?;
        let working = tokio::task::spawn_blocking(move || {
            let result = work();
            drop(permit);
            result
        });
        working.await.ok()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::{AT_ONCE, BlockingLimit};

    #[tokio::test]
    async fn many_jobs_are_all_done_a_few_at_a_time() {
        let (limit, busy, most) =
            (BlockingLimit::default(), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let jobs: Vec<_> = (0..200)
            .map(|number| {
                let (limit, busy, most) = (limit.clone(), Arc::clone(&busy), Arc::clone(&most));
                tokio::spawn(async move {
                    limit
                        .run(move || {
                            most.fetch_max(busy.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                            std::thread::yield_now();
                            busy.fetch_sub(1, Ordering::SeqCst);
                            number
                        })
                        .await
                })
            })
            .collect();
        for (number, job) in jobs.into_iter().enumerate() {
            assert_eq!(job.await.unwrap(), Some(number));
        }
        assert!(most.load(Ordering::SeqCst) <= AT_ONCE);
    }

    #[tokio::test]
    async fn a_job_that_panics_takes_no_place_for_ever() {
        let limit = BlockingLimit::default();
        for _ in 0..2 * AT_ONCE {
            let panicking = || std::panic::resume_unwind(Box::new("a job that panics"));
            assert_eq!(limit.run::<()>(panicking).await, None);
        }
        assert_eq!(limit.run(|| 7).await, Some(7));
    }
}
