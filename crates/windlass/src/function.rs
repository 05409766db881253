//! A tool from a closure.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use windlass_tools::{BoxFuture, CallContext, Verification};
use windlass_vocab::{EffectClass, Outcome};

use crate::answer::ToolAnswer;
use crate::declaration::Declaration;
use crate::typed::{BoundTool, CallFunctions, IntoTool, bind};

type Bind<Deps> = Box<dyn FnOnce(&Declaration, Arc<Deps>) -> BoundTool + Send>;

/// A tool from a closure. Its schema comes from the type of the arguments; the model reads what it returns: text,
/// [`Data`](crate::Data), or a `Result` of one, whose error the model reads too.
///
/// ```
/// use std::sync::Arc;
/// use windlass::{Function, ToolError};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct City {
///     /// The city, in English.
///     city: String,
/// }
///
/// struct Stations; // what the agent's tools work with
///
/// let how_warm = Function::new("how_warm", "Says how warm it is in a city.", |_: Arc<Stations>, args: City| async move {
///     if args.city.is_empty() {
///         return Err(ToolError::new("which city?"));
///     }
///     Ok(format!("{}: 21 °C", args.city))
/// });
/// let builder = windlass::Agent::builder().deps(Stations).tool(how_warm.read_only());
/// ```
#[must_use = "a tool does nothing until an agent has it"]
pub struct Function<Deps = ()> {
    declaration: Declaration,
    bind: Bind<Deps>,
}

impl<Deps> std::fmt::Debug for Function<Deps> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Function").field("declaration", &self.declaration).finish_non_exhaustive()
    }
}

impl<Deps: Send + Sync + 'static> Function<Deps> {
    /// Creates the tool `name` with this description; `work` receives the agent's `Deps` and the arguments.
    pub fn new<Args, Done>(
        name: impl Into<String>,
        description: impl Into<String>,
        work: impl Fn(Arc<Deps>, Args) -> Done + Send + Sync + 'static,
    ) -> Self
    where
        Args: DeserializeOwned + JsonSchema + Send + 'static,
        Done: Future<Output: ToolAnswer> + Send + 'static,
    {
        Self::with_context(name, description, move |_, deps, args| work(deps, args))
    }

    /// Like `new`, for work that needs no `Deps`.
    pub fn plain<Args, Done>(
        name: impl Into<String>,
        description: impl Into<String>,
        work: impl Fn(Args) -> Done + Send + Sync + 'static,
    ) -> Self
    where
        Args: DeserializeOwned + JsonSchema + Send + 'static,
        Done: Future<Output: ToolAnswer> + Send + 'static,
    {
        Self::with_context(name, description, move |_, _, args| work(args))
    }

    /// Like `new`, for work that needs its call's context: its cancellation, its effect id (the same for every retry:
    /// an idempotency key), and a function that reports progress.
    pub fn with_context<Args, Done>(
        name: impl Into<String>,
        description: impl Into<String>,
        work: impl Fn(CallContext, Arc<Deps>, Args) -> Done + Send + Sync + 'static,
    ) -> Self
    where
        Args: DeserializeOwned + JsonSchema + Send + 'static,
        Done: Future<Output: ToolAnswer> + Send + 'static,
    {
        let bind: Bind<Deps> = Box::new(move |declaration, deps| {
            let run = move |context: CallContext, args: Args| -> BoxFuture<'static, Outcome> {
                let done = work(context, Arc::clone(&deps), args);
                Box::pin(async move { done.await.into_outcome() })
            };
            let verify = |_: CallContext, _: Args| -> BoxFuture<'static, Verification> {
                Box::pin(std::future::ready(Verification::Unknown))
            };
            bind(declaration, CallFunctions { run: Box::new(run), verify: Box::new(verify) })
        });
        Self { declaration: Declaration::new(name, description), bind }
    }

    /// Declares that it changes nothing, so that calls may be repeated and run in parallel.
    pub fn read_only(self) -> Self {
        self.effect(EffectClass::ReadOnly)
    }

    /// Declares that running it twice has the same effect as once.
    pub fn idempotent(self) -> Self {
        self.effect(EffectClass::Idempotent)
    }

    /// Sets the effect of running it twice. See [`Declaration::effect`].
    pub fn effect(self, effect: EffectClass) -> Self {
        self.declared(|declaration| declaration.effect(effect))
    }

    /// Sets the timeout of a call. See [`Declaration::timeout`].
    pub fn timeout(self, timeout: Duration) -> Self {
        self.declared(|declaration| declaration.timeout(timeout))
    }

    /// Declares a poll. See [`Declaration::repeatable`].
    pub fn repeatable(self) -> Self {
        self.declared(Declaration::repeatable)
    }

    /// Asks a person before each call. See [`Declaration::ask_first`].
    pub fn ask_first(self) -> Self {
        self.declared(Declaration::ask_first)
    }

    /// Adds tags for its purpose. See [`Declaration::tags`].
    pub fn tags(self, tags: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.declared(|declaration| declaration.tags(tags))
    }

    fn declared(mut self, change: impl FnOnce(Declaration) -> Declaration) -> Self {
        self.declaration = change(self.declaration);
        self
    }
}

impl<Deps: Send + Sync + 'static> IntoTool<Deps> for Function<Deps> {
    fn into_tool(self, deps: &Arc<Deps>) -> BoundTool {
        (self.bind)(&self.declaration, Arc::clone(deps))
    }
}
