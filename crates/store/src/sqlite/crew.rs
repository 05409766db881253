//! Blocking work on a few threads, taken in order. Whoever asks need not be looked at again before its
//! work begins, so a thousand who ask at once neither start a thread each nor wait for one another's turn.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// How many work at a time.
const HANDS: usize = 4;

type Job = Box<dyn FnOnce() + Send>;

/// The jobs that wait, and those who take them. Threads are borrowed from the async runtime while there are jobs.
#[derive(Default)]
pub(super) struct Crew(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    jobs: VecDeque<Job>,
    hands: usize,
}

impl fmt::Debug for Crew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Crew").finish_non_exhaustive()
    }
}

impl Crew {
    /// Has `work` done; `None` if it panicked or the runtime is shutting down.
    pub(super) async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let (done, result) = oneshot::channel();
        self.take(Box::new(move || {
            // Whoever stopped waiting needs no answer.
            let _ = done.send(work());
        }));
        result.await.ok()
    }

    fn take(self: &Arc<Self>, job: Job) {
        let mut waiting = self.waiting();
        waiting.jobs.push_back(job);
        if waiting.hands < HANDS {
            waiting.hands += 1;
            let hand = Hand(Some(Arc::clone(self)));
            tokio::task::spawn_blocking(move || hand.work());
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One who works, until nothing waits. Its place is free again even if a job panics.
struct Hand(Option<Arc<Crew>>);

impl Hand {
    fn work(mut self) {
        while let Some(job) = self.next() {
            job();
        }
    }

    /// The next job. When there is none the place is given up at once: a job that comes now finds it free.
    fn next(&mut self) -> Option<Job> {
        let mut waiting = self.0.as_ref()?.waiting();
        let job = waiting.jobs.pop_front();
        if job.is_none() {
            waiting.hands -= 1;
            drop(waiting);
            self.0 = None;
        }
        job
    }
}

impl Drop for Hand {
    fn drop(&mut self) {
        if let Some(crew) = &self.0 {
            crew.waiting().hands -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::{Crew, HANDS};

    #[tokio::test]
    async fn many_jobs_are_all_done_by_few_hands() {
        let (crew, busy, most) =
            (Arc::new(Crew::default()), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let jobs: Vec<_> = (0..200)
            .map(|number| {
                let (crew, busy, most) = (Arc::clone(&crew), Arc::clone(&busy), Arc::clone(&most));
                tokio::spawn(async move {
                    crew.run(move || {
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
        assert!(most.load(Ordering::SeqCst) <= HANDS);
    }

    #[tokio::test]
    async fn a_job_that_panics_costs_nobody_else_his_place() {
        let crew = Arc::new(Crew::default());
        for _ in 0..2 * HANDS {
            let panicking = || std::panic::resume_unwind(Box::new("a job that panics"));
            assert_eq!(crew.run::<()>(panicking).await, None);
        }
        assert_eq!(crew.run(|| 7).await, Some(7));
    }
}
