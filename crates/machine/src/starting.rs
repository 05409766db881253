//! How a run starts.

use windlass_vocab::{RunId, RunStarted};

use crate::draft::Draft;
use crate::fact::RunSettings;

impl Draft<'_> {
    /// Records the start of a run, with what its policy needs to know of the time and of what was spent.
    pub(crate) fn start_run(&mut self, run_settings: RunSettings, retry_of: Option<RunId>) {
        let RunSettings {
            policy,
            agent,
            chain,
            deadline,
            attendance,
            output,
            server,
            models,
            role_chains,
            compact,
            spent_today,
            spent_by_agent,
            system,
        } = run_settings;
        let began = policy.run_time_limit_ms.map(|_| self.at);
        let spent_today = spent_today.filter(|_| policy.limits_the_day()).map(Box::new);
        let spent_by_agent = spent_by_agent.filter(|_| policy.limits_the_agent()).map(Box::new);
        self.push(RunStarted {
            run: RunId(self.control.runs).next(),
            policy,
            agent,
            chain,
            deadline,
            attendance,
            retry_of,
            output: output.map(Box::new),
            server: server.map(String::into_boxed_str),
            models,
            role_chains: Box::new(role_chains),
            compact,
            began,
            spent_today,
            spent_by_agent,
            system: system.map(String::into_boxed_str),
        });
        self.ask_router();
    }
}
