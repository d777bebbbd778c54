//! Time zone names. SQL Server's `AT TIME ZONE` takes those of Windows; everything else uses IANA's.

/// One line per Windows zone: its name, and the IANA names that it stands for.
const WINDOWS_ZONES: &str = include_str!("time_zone/windows_zones.txt");

/// In place of a Windows zone, for IANA names that have none.
const NONE: &str = "-";

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    /// The name of a Windows zone, or an IANA name that has this one.
    Windows(&'static str),
    /// An IANA name that no Windows zone stands for.
    IanaOnly,
}

/// What a name of either kind stands for, ignoring case.
pub(crate) fn find(name: &str) -> Option<Known> {
    let is_name = |known: &str| known != NONE && known.eq_ignore_ascii_case(name);
    let (windows, _) = zones().find(|(windows, iana)| is_name(windows) || iana.split(' ').any(is_name))?;
    Some(if windows == NONE { Known::IanaOnly } else { Known::Windows(windows) })
}

/// Every IANA name that includes an area, such as `Europe/Warsaw`.
pub(crate) fn iana_names() -> Vec<&'static str> {
    zones().flat_map(|(_, iana)| iana.split(' ')).filter(|name| name.contains('/')).collect()
}

/// The Windows zone that was most likely meant: all but one letter of its name is right. Anything further off
/// is not treated as a mistake, and neither is another number, because a newer Windows may have zones that
/// are not known here: `South Sudan` came after `Sudan`.
pub(crate) fn nearest_windows_zone(name: &str) -> Option<&'static str> {
    let (wanted, numbers) = (name.to_lowercase(), digits(name));
    let distance = |known: &str| strsim::osa_distance(&wanted, &known.to_lowercase());
    let known = zones().map(|(windows, _)| windows).filter(|known| *known != NONE);
    known.filter(|known| digits(known) == numbers).find(|known| distance(known) == 1)
}

fn zones() -> impl Iterator<Item = (&'static str, &'static str)> {
    WINDOWS_ZONES.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(": "))
}

fn digits(name: &str) -> String {
    name.chars().filter(char::is_ascii_digit).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_table_is_whole_and_each_name_is_in_it_once() {
        let mut names = BTreeSet::new();
        for line in WINDOWS_ZONES.lines().filter(|line| !line.starts_with('#')) {
            let (windows, iana) = line.split_once(": ").unwrap();
            // The zone UTC has the same name in both.
            let all = iana.split(' ').filter(|name| *name != windows).chain([windows]);
            for name in all {
                assert!(!name.is_empty() && name.trim() == name, "{line}");
                assert!(names.insert(name.to_lowercase()), "{name} is there twice");
            }
        }
        assert_eq!(zones().filter(|(windows, _)| *windows != NONE).count(), 139);
        assert!(names.len() > 139 + 590, "{}", names.len());
    }

    #[test]
    fn a_zone_is_found_by_each_of_its_names_in_any_case() {
        for (name, windows) in [
            ("Europe/Warsaw", "Central European Standard Time"),
            ("Poland", "Central European Standard Time"),
            ("Europe/Berlin", "W. Europe Standard Time"),
            ("Europe/Kiev", "FLE Standard Time"),
            ("Europe/Kyiv", "FLE Standard Time"),
            ("Asia/Tokyo", "Tokyo Standard Time"),
            ("Japan", "Tokyo Standard Time"),
            ("Europe/Moscow", "Russian Standard Time"),
            ("Asia/Calcutta", "India Standard Time"),
            ("Asia/Kolkata", "India Standard Time"),
            ("America/Argentina/Buenos_Aires", "Argentina Standard Time"),
            ("EST5EDT", "Eastern Standard Time"),
            ("Etc/GMT+12", "Dateline Standard Time"),
            ("Etc/UTC", "UTC"),
            ("UTC", "UTC"),
            ("europe/warsaw", "Central European Standard Time"),
            ("central european standard time", "Central European Standard Time"),
        ] {
            assert_eq!(find(name), Some(Known::Windows(windows)), "{name}");
        }
        assert_eq!(find("Antarctica/Troll"), Some(Known::IanaOnly));
        for unknown in ["", "-", "#", "Europe", "Europe/Warszawa", "Central European", "CEST"] {
            assert_eq!(find(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn a_windows_zone_is_nearest_windows_zone_what_is_nearly_its_name() {
        assert_eq!(
            nearest_windows_zone("Central Europaen standard Time"),
            Some("Central European Standard Time")
        );
        assert_eq!(nearest_windows_zone("Tokio Standard Time"), Some("Tokyo Standard Time"));
        // These could be new zones.
        for name in ["Russia Time Zone 4", "UTC+14", "North Sudan Standard Time", "Mars Standard Time"] {
            assert_eq!(nearest_windows_zone(name), None, "{name}");
        }
    }
}
