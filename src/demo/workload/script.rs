//! The actors' decisions: a fixed opening, then chance from each actor's own generator.
//!
//! The opening makes each kind of event happen within the first seconds. After it, every decision draws
//! the same number of values, whatever it decides, so that the streams depend on the seed alone. Times
//! are in milliseconds at speed 1.

use fastrand::Rng;

/// The payload of jobs that never succeed.
const POISON: &str = "import broken file";

/// The payload of a job that fails while an incident lasts, and may be retried without limit.
pub(super) const ENDLESS: &str = "import unreadable file";

/// The generator of one actor.
pub(super) fn generator(seed: u64, actor: &str) -> Rng {
    // FNV-1a: unlike the standard library's hasher, it never changes.
    let name = actor.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    Rng::with_seed(Rng::with_seed(seed).u64(..) ^ name)
}

/// The enqueuer's next step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Delivery {
    /// How many jobs are enqueued at once.
    pub(super) jobs: u64,
    pub(super) delay: u64,
    pub(super) max_attempts: u32,
    pub(super) payload: &'static str,
    /// The pause after it.
    pub(super) then: u64,
}

/// The enqueuer's `n`th decision (from 0).
pub(super) fn delivery(rng: &mut Rng, n: u64) -> Delivery {
    let kind = rng.f64();
    let delay = rng.u64(1000..=4000);
    let jobs = rng.u64(6..=14);
    let payload = rng.choice(["send invoice", "resize picture", "export report"]).unwrap_or("send invoice");
    let then = rng.u64(200..=600);
    let usual = Delivery { jobs: 1, delay: 0, max_attempts: 5, payload, then };
    match n {
        // First of all, as it takes a while to be given up.
        0 => Delivery { then: 0, ..poison(usual) },
        // More than the workers can take at once, so that a backlog shows.
        1 => Delivery { jobs: 10, then: 100, ..usual },
        2 => Delivery { delay: 3000, ..usual },
        // Time for the workers to catch up.
        3..=15 => usual,
        _ if kind < 0.015 => poison(usual),
        _ if kind < 0.135 => Delivery { delay, ..usual },
        _ if kind < 0.16 => Delivery { jobs, ..usual },
        _ => usual,
    }
}

fn poison(usual: Delivery) -> Delivery {
    Delivery { max_attempts: 3, payload: POISON, ..usual }
}

/// The outcome of work on a claimed job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// The work succeeds.
    Success,
    /// The work fails with an error.
    Failure,
    /// The worker vanishes in the middle of it.
    Crash,
    /// The worker hangs until long after its lease, then continues as if nothing had happened.
    Stall,
}

/// One attempt at a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Attempt {
    pub(super) fate: Fate,
    /// How long the work takes.
    pub(super) work: u64,
}

/// The decision stream of one worker.
#[derive(Debug)]
pub(super) struct WorkerScript {
    rng: Rng,
    worker: usize,
    drawn: u64,
}

impl WorkerScript {
    pub(super) fn new(rng: Rng, worker: usize) -> Self {
        Self { rng, worker, drawn: 0 }
    }

    /// The next attempt. A poison job fails at once and draws nothing from the stream: which worker gets
    /// it is up to chance, and must not change that worker's other decisions.
    pub(super) fn attempt(&mut self, payload: &str) -> Attempt {
        if payload == POISON || payload == ENDLESS {
            return Attempt { fate: Fate::Failure, work: 80 };
        }
        let kind = self.rng.f64();
        let work = self.rng.u64(50..=900);
        let long = self.rng.u64(6000..=9000);
        self.drawn += 1;
        let (fate, work) = match (self.worker, self.drawn) {
            (1, 3) | (2, 2) => (Fate::Crash, 200),
            (3, 2) => (Fate::Failure, 150),
            (4, 2) => (Fate::Success, 6500),
            // Nothing else may delay the opening: the poison job's retries queue up behind the backlog.
            (_, 0..=8) => (Fate::Success, work.min(300)),
            _ if kind < 0.08 => (Fate::Failure, work),
            _ if kind < 0.10 => (Fate::Crash, work),
            _ if kind < 0.11 => (Fate::Stall, work),
            _ if kind < 0.13 => (Fate::Success, long),
            _ => (Fate::Success, work),
        };
        Attempt { fate, work }
    }
}

/// The pause before a failed job is retried: doubling, up to a limit. The endless job has no backoff.
pub(super) fn backoff(payload: &str, attempts: u32) -> u64 {
    if payload == ENDLESS {
        return 300;
    }
    800_u64.saturating_mul(1 << attempts.saturating_sub(1).min(10)).min(30_000)
}

/// The producer's `n`th decision (from 0): how many rows, and the pause after them.
pub(super) fn production(rng: &mut Rng, n: u64) -> (u64, u64) {
    let burst = rng.f64() < 0.04;
    let rows = rng.u64(5..=12);
    let then = rng.u64(200..=500);
    (if n == 0 || burst { rows } else { 1 }, then)
}

/// One transaction of a consumer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Consumption {
    /// The most rows that it takes.
    pub(super) rows: u64,
    pub(super) hold: u64,
    pub(super) rollback: bool,
}

/// A consumer's `n`th transaction (from 0).
pub(super) fn consumption(rng: &mut Rng, n: u64) -> Consumption {
    let rollback = rng.f64() < 0.1;
    let rows = if rng.f64() < 0.2 { 2 } else { 1 };
    let hold = rng.u64(100..=600);
    Consumption { rows, hold, rollback: rollback || n == 1 }
}

/// An event that causes notifications.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    Comment {
        item: i64,
        author: &'static str,
    },
    /// Orders, the first of them with a reminder after `remind` milliseconds.
    Orders {
        count: u64,
        remind: Option<u64>,
    },
}

/// The event writer's `n`th decision (from 0), and the pause after it.
pub(super) fn event(rng: &mut Rng, n: u64) -> (Event, u64) {
    let kind = rng.f64();
    let item = i64::try_from(rng.u64(1..=40)).unwrap_or(1);
    let author = rng.choice(["anna", "boris", "chika", "dmitri"]).unwrap_or("anna");
    let remind = rng.u64(1000..=6000);
    let with_reminder = rng.bool();
    let then = rng.u64(300..=1100);
    // More than one run may announce, so that it reaches its cap.
    let burst = Event::Orders { count: 25, remind: Some(remind) };
    match n {
        0 => (Event::Comment { item, author }, 100),
        1 => (Event::Orders { count: 1, remind: Some(300) }, 600),
        3 => (burst, then),
        _ if kind < 0.6 => (Event::Comment { item, author }, then),
        _ if kind < 0.985 => (Event::Orders { count: 1, remind: with_reminder.then_some(remind) }, then),
        _ => (burst, then),
    }
}

/// The plan of one notification run: how long each step takes, and what goes wrong.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RunPlan {
    pub(super) comments: u64,
    pub(super) orders: u64,
    pub(super) reminders: u64,
    pub(super) orders_fail: bool,
    /// The client is killed before it releases the lock, and nobody else ever will.
    pub(super) orphan_lock: bool,
    /// The run does not prune the log.
    pub(super) keep_log: bool,
}

/// The `n`th run (from 0) of a scheduler, and the time from its start to the next one's.
pub(super) fn notification_run(rng: &mut Rng, scheduler: usize, n: u64) -> (RunPlan, u64) {
    let fails = rng.f64() < 0.03;
    let is_slow = rng.f64() < 0.04;
    let comments = rng.u64(20..=60);
    let orders = rng.u64(20..=80);
    let usual = rng.u64(20..=60);
    let slow = rng.u64(1200..=2000);
    let every = rng.u64(3000..=4200);
    let reminders = if is_slow { slow } else { usual };
    let plan = RunPlan { comments, orders, reminders, orders_fail: fails, ..RunPlan::default() };
    let plan = match (scheduler, n) {
        // Still running when the second scheduler starts its first, which is then skipped.
        (1, 0) => RunPlan { reminders: 1500, orders_fail: false, ..plan },
        (1, 1) => RunPlan { reminders: usual, orders_fail: true, ..plan },
        (_, 0..=3) => RunPlan { reminders: usual, orders_fail: false, ..plan },
        _ => plan,
    };
    (plan, every)
}
