//! The pause after an empty claim.

use super::super::pause::IdlePause;

#[test]
fn it_grows_up_to_a_ceiling_and_starts_again_when_there_is_work() {
    let mut idle = IdlePause::default();
    let pauses: Vec<_> = (0..6).map(|_| idle.after_nothing().as_millis()).collect();
    assert_eq!(pauses, [50, 100, 200, 400, 400, 400]);
    idle.reset();
    assert_eq!(idle.after_nothing(), IdlePause::SHORTEST);
}
