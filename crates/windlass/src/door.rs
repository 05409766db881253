//! For doors: programs that display sessions to people and take their answers, as a command line or a server does. They
//! open sessions through the methods of [`Agent`](crate::Agent) for doors, and follow runs to their ends. What the name of a model
//! means, they learn from [`NamedModel`].

pub use crate::bare_ids::{provider_of_id, unknown_prefix};
pub use crate::ended::{AwaitedEnd, end_awaited};
pub use crate::follow_error::FollowError;
pub use crate::host_address::NotAHost;
pub use crate::listed_models::{
    LIST_LIMIT, ListedChoice, ListedRule, choose_listed, is_chat_model, is_on_this_machine,
};
pub use crate::message::read_attached;
pub use crate::model_name::{NamedModel, NamedServer, unnamed_elsewhere};
pub use crate::model_providers::{
    ADDRESS_VARIABLE, AddressForm, AddressVariable, EnvironmentServer, KEY_VARIABLE, MODEL_VARIABLES, ModelProvider,
    OLLAMA, OPENAI, PROVIDERS, UnnamedModel, server_in_environment,
};
pub use crate::resolved_model::{ModelFigures, ResolvedModel};
