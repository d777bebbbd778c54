//! Words: enums whose variants are each written as one fixed word, in configurations, statements, label
//! values and the state file.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// An enum made by `words!`.
pub trait Word: Copy + Ord + Serialize + DeserializeOwned + 'static {
    /// Every variant, in the order of declaration.
    const ALL: &'static [Self];

    /// The word.
    fn as_str(self) -> &'static str;

    /// The variant that a word stands for.
    #[must_use]
    fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|known| known.as_str() == word)
    }

    /// All words, for an error message.
    #[must_use]
    fn list() -> String {
        Self::ALL.iter().map(|known| known.as_str()).collect::<Vec<_>>().join(", ")
    }
}

/// Declares an enum with the word of each variant: `words! { pub enum Size { Small = "small", } }`.
/// Attributes are kept, and serde reads and writes the words.
macro_rules! words {
    ($(
        $(#[$meta:meta])*
        $vis:vis enum $Name:ident { $($(#[$variant_meta:meta])* $Variant:ident = $word:literal,)+ }
    )+) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        $vis enum $Name {
            $($(#[$variant_meta])* #[serde(rename = $word)] $Variant,)+
        }

        impl $Name {
            /// Every variant, in the order of declaration.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$Variant),+];

            /// The word.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$Variant => $word,)+
                }
            }
        }

        impl $crate::words::Word for $Name {
            const ALL: &'static [Self] = &Self::ALL;

            fn as_str(self) -> &'static str {
                self.as_str()
            }
        }
    )+};
}
pub(crate) use words;
