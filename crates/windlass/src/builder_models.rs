//! The builder's settings for further models, and for the protocol of a server.

use windlass_provider::WireKind;

use crate::builder::Builder;

impl<D, O> Builder<D, O> {
    /// Sets the protocol of the server at [`base_url`](Self::base_url), or of the address in the model's name, in case it
    /// is not the usual one: Chat Completions at an address of which nothing is known, else that of the provider. A model
    /// that is named like one of the protocol's maker is taken to be that one, with its abilities and its prices.
    #[must_use]
    pub fn wire(mut self, wire: WireKind) -> Self {
        self.parts.model.wire = Some(wire);
        self
    }

    /// Adds a model to the chain, by a name as for [`model`](Self::model). It is called when the models before it can't
    /// be reached, and so its server may be sent every conversation. Its name in records and events is the one given
    /// here: one id on two servers is two models.
    #[must_use]
    pub fn fallback_model(mut self, name: impl Into<String>) -> Self {
        self.parts.fallbacks.push(name.into());
        self
    }
}
