"""What goes wrong in the test, and what somebody must be told of it."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Incident:
    """An incident of the demo, or `outside` of it: the exporter is stopped and started."""

    name: str
    receiver: str
    alert: str
    # From the start of the demo, in seconds: as long healthy, as long not.
    after: int = 30
    lasts: int = 60
    # What may be told of the same incident besides, because it is true, too.
    besides: frozenset[tuple[str, str]] = field(default_factory=frozenset)
    outside: bool = False

    @property
    def main(self) -> tuple[str, str]:
        return (self.receiver, self.alert)


def also(receiver: str, alert: str) -> frozenset[tuple[str, str]]:
    return frozenset({(receiver, alert)})


INCIDENTS = [
    Incident("no-workers", "pager", "SqlQueueNoWorker"),
    Incident("starving-job", "pager", "SqlQueueReadyJobTooOld"),
    Incident("no-recovery", "pager", "SqlQueueExpiredLeasesNotRecovered", lasts=90),
    Incident("worker-crash", "tickets", "SqlQueueLeasesLost", lasts=80),
    Incident("poison-job", "tickets", "SqlQueuePoisonJob"),
    Incident("failed-jobs", "tickets", "SqlQueueFailedJobs", lasts=80),
    # Once the backlog is there, the age that was foretold is reached.
    Incident("growing-backlog", "tickets", "SqlQueueBacklogGrowing", besides=also("pager", "SqlQueueReadyJobTooOld")),
    Incident("orphaned-lock", "pager", "SqlQueueEveryRunSkipped"),
    Incident("overlapping-runs", "tickets", "SqlQueueRunsOverlap", lasts=90),
    Incident("scheduler-stopped", "pager", "SqlQueueSchedulerStopped", lasts=80),
    Incident("failing-step", "pager", "SqlQueueStepFailing", lasts=40),
    # It has to have a past: an hour, which is a minute here, and some time before that.
    Incident("slow-step", "tickets", "SqlQueueStepSlow", after=45, lasts=90),
    Incident("cap-reached", "tickets", "SqlQueueStepWarnings", lasts=90),
    Incident("broken-target", "pager", "SqlQueueTargetNotSampled", lasts=40),
    Incident("database-down", "pager", "SqlQueueDatabaseDown", lasts=40),
    Incident("clock-skew", "tickets", "SqlQueueClockSkew", lasts=40),
    Incident("state-not-saved", "tickets", "SqlQueueStateNotSaved", lasts=40),
    Incident("exporter-down", "pager", "SqlQueueExporterDown", outside=True),
]
