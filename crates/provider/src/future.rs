//! Futures that are objects.

use std::future::Future;
use std::pin::Pin;

/// A boxed future, so that `Model` can be an object.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
