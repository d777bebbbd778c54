//! Suggestions: the nearest word to a misspelt one.

/// The candidate that `word` most likely means, if one is near enough.
pub(crate) fn nearest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let word = word.to_lowercase();
    let distance = |candidate: &str| strsim::osa_distance(&word, &candidate.to_lowercase());
    let nearest = candidates.iter().copied().min_by_key(|candidate| distance(candidate))?;
    // Up to a third of the letters may differ; beyond that, a guess confuses.
    let allowed = (word.chars().count().max(nearest.chars().count()) / 3).max(1);
    if distance(nearest) <= allowed {
        return Some(nearest);
    }
    // Then a part of exactly one candidate: `interval` for `sample_interval`.
    let mut containing =
        candidates.iter().copied().filter(|candidate| candidate.to_lowercase().contains(&word));
    match (containing.next(), containing.next()) {
        (Some(only), None) if word.chars().count() >= 4 => Some(only),
        _ => None,
    }
}

/// A remedy for `word`: the nearest candidate, or else all of them after `otherwise`.
pub(crate) fn remedy(word: &str, candidates: &[&str], otherwise: &str) -> String {
    match nearest(word, candidates) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("{otherwise}: {}", candidates.join(", ")),
    }
}
