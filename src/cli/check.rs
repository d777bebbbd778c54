//! `check`: finds the mistakes in a configuration before it is deployed.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use super::{CheckArgs, Failure, block_on, missing, print};
use crate::config::{Config, Environment, Global, Source, TargetConfig};
use crate::sample::{JobState, Sample};
use crate::source::{self, Connection, Reason, Rows, SourceError, Value};
use crate::state_file::{Inspected, OpenError, StateFile};
use crate::statement::{self, Dialect, IndexPurpose, TailRequest};

pub(super) fn run(arguments: &CheckArgs) -> Result<ExitCode, Failure> {
    let CheckArgs { config: options, web_config, .. } = arguments;
    let config = options.load(&Environment::process())?;
    // Its errors are the same as at a start.
    web_config.security()?;
    let targets: usize = config.sources.iter().map(|source| source.targets().count()).sum();
    print(&format!(
        "{}: the configuration is valid: {}, {}\n",
        options.config_file.display(),
        counted(config.sources.len(), "source"),
        counted(targets, "target"),
    ))?;
    if let Some(file) = &web_config.web_config_file {
        print(&format!("{}: the web configuration is valid\n", file.display()))?;
    }
    let state_file_is_good = check_state_file(&config)?;
    if !arguments.connect {
        print("no database was contacted; --connect also checks the databases\n")?;
        return Ok(if state_file_is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let mut verdict = block_on(check_databases(&config))?;
    verdict.failures += usize::from(!state_file_is_good);
    print(&format!(
        "{}, {}, {}\n",
        counted(verdict.good, "good target"),
        counted(verdict.warnings, "warning"),
        counted(verdict.failures, "failure"),
    ))?;
    Ok(if verdict.failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Whether an exporter could continue from the state file. One in use by another exporter counts as good.
fn check_state_file(config: &Config) -> Result<bool, Failure> {
    let Some(path) = &config.state_file else {
        return Ok(true);
    };
    let (good, finding) = match StateFile::inspect(path) {
        Err(OpenError::InUse(_)) => (true, "in use by a running exporter".to_owned()),
        Ok(Inspected { problem: Some(problem), .. }) => (false, format!("FAILED, {problem}")),
        Ok(Inspected { is_new: true, .. }) => (true, "does not exist yet; it can be created".to_owned()),
        Ok(_) => (true, "ok".to_owned()),
    };
    print(&format!("{}: the state file: {finding}\n", path.display()))?;
    Ok(good)
}

/// How many targets are good, and how many warnings and failures there were.
#[derive(Default)]
struct Verdict {
    good: usize,
    warnings: usize,
    failures: usize,
}

async fn check_databases(config: &Config) -> Result<Verdict, Failure> {
    let mut verdict = Verdict::default();
    for source in &config.sources {
        let connector = source::connector(source, &config.global, None);
        let dialect = connector.dialect();
        print(&format!("source {}: connecting to {}\n", source.name, connector.describe()))?;
        match connector.connect(config.global.query_timeout).await {
            Ok(connection) => {
                print("  connected\n")?;
                let (global, verdict) = (&config.global, &mut verdict);
                Database { dialect, connection, global, verdict }.check(source).await?;
            }
            Err(error) => {
                verdict.failures += 1;
                print(&failed("  ", &error, dialect))?;
            }
        }
    }
    Ok(verdict)
}

/// A database that is being checked.
struct Database<'a> {
    dialect: Dialect,
    connection: Box<dyn Connection>,
    global: &'a Global,
    verdict: &'a mut Verdict,
}

impl Database<'_> {
    async fn check(&mut self, source: &Source) -> Result<(), Failure> {
        for target in source.targets() {
            let name = format!("  {} {}: ", target.label(), target.target().name);
            match self.sample(target).await {
                Ok((sample, took)) => {
                    self.verdict.good += 1;
                    print(&format!("{name}ok, {} ({} ms)\n", summary(&sample), took.as_millis()))?;
                    self.check_indexes(target, &name).await?;
                }
                Err(error) => {
                    self.verdict.failures += 1;
                    let error = missing::explained(target, error);
                    print(&failed(&name, &error, self.dialect))?;
                    if error.connection_lost {
                        print("  the connection was lost; the targets after this one were not checked\n")?;
                        return Ok(());
                    }
                    // A missing index may be the cause.
                    if error.reason == Reason::Timeout {
                        self.check_indexes(target, &name).await?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The first sample of a target and how long it took. Also tries the second sample of a log, which
    /// is another statement.
    async fn sample(&mut self, target: TargetConfig<'_>) -> Result<(Sample, Duration), SourceError> {
        let started = tokio::time::Instant::now();
        let sample = self.read(target, &TailRequest::Head).await?;
        let took = started.elapsed();
        if let Some(bounds) = sample.bounds() {
            let next = TailRequest::After { watermark: bounds.newest_id.unwrap_or(0), gaps: Vec::new() };
            self.read(target, &next).await?;
        }
        Ok((sample, took))
    }

    async fn read(&mut self, target: TargetConfig<'_>, request: &TailRequest) -> Result<Sample, SourceError> {
        let statement = statement::sample(self.dialect, target, request, self.global.lock_timeout)
            .map_err(|error| SourceError::new(Reason::Other, error.to_string()))?;
        Sample::read(target, self.connection.query(&statement, self.global.query_timeout).await)
    }

    /// Warns about indexes that the sample of a target seeks and that do not exist.
    async fn check_indexes(&mut self, target: TargetConfig<'_>, name: &str) -> Result<(), Failure> {
        for index in statement::indexes(target) {
            let statement = statement::seek(self.dialect, &index, self.global.lock_timeout)?;
            let warning = match self.connection.query(&statement, self.global.query_timeout).await {
                Err(error) => format!("the indexes could not be looked up: {error}"),
                Ok(found) if has_index(&found) => continue,
                Ok(_) => {
                    let create = statement::create_index(self.dialect, &index)?;
                    format!("{}; create one:\n      {}", without(index.purpose), create.trim_end())
                }
            };
            self.verdict.warnings += 1;
            print(&format!("{name}warning, {warning}\n"))?;
        }
        Ok(())
    }
}

/// The cost of a missing index.
const fn without(purpose: IndexPurpose) -> &'static str {
    match purpose {
        IndexPurpose::OpenStates => {
            "no index lets the sample seek by the state, so every sample reads rows that finished long ago \
             (filtered indexes are not looked at)"
        }
        IndexPurpose::OpenRows => {
            "no index lets the sample seek the rows that are not done, so every sample reads rows that finished \
             long ago (filtered indexes are not looked at: one on the rows where this column is NULL may serve)"
        }
        IndexPurpose::NewRows => {
            "no index lets the sample seek by the id, so every sample reads the whole log (filtered indexes \
             are not looked at)"
        }
        IndexPurpose::RelatedRow => {
            "no index lets the sample seek the related table by its key, so each job may cost a read of the \
             whole table (filtered indexes are not looked at)"
        }
    }
}

fn has_index(rows: &Rows) -> bool {
    rows.rows.iter().flatten().any(|value| matches!(value, Value::Text(_)))
}

/// A good sample in one line.
fn summary(sample: &Sample) -> String {
    match sample {
        Sample::Queue(sample) => {
            let mut text = counted(sample.queues.len(), "queue");
            for state in JobState::ALL {
                let jobs: u64 = sample.queues.values().filter_map(|queue| queue.jobs.get(&state)).sum();
                if jobs > 0 {
                    // Writing to a String cannot fail.
                    let _ = write!(text, ", {jobs} {}", state.as_str());
                }
            }
            text
        }
        log => match log.bounds().and_then(|bounds| bounds.newest_id) {
            Some(newest) => format!("newest row {newest}"),
            None => "no rows yet".to_owned(),
        },
    }
}

fn failed(name: &str, error: &SourceError, dialect: Dialect) -> String {
    let reason = error.reason.as_str();
    let remedy = if error.too_many_rows {
        "Each queue takes several rows of the answer, whose number is limited."
    } else {
        error.reason.remedy(dialect)
    };
    format!("{name}FAILED ({reason}), {error}\n      {remedy}\n")
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
