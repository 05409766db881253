//! The contents of images that messages refer to.

use std::collections::HashMap;
use std::sync::Arc;

use windlass_vocab::Hash;

/// Contents of images, by hash.
pub(crate) type ImageContents = HashMap<Hash, Arc<[u8]>>;
