"""The incidents of the test, and the notifications that they must cause."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Incident:
    """An incident of the demo, or one `outside` of it: the exporter is stopped and started."""

    name: str
    receiver: str
    alert: str
    # Seconds from the start of the demo: it is healthy for as long as it then is not.
    after: int = 30
    lasts: int = 60
    # A notification that the same incident may cause as well, because it is true, too: a page that takes over, a
    # consequence when the incident lasts, or what is left to do when it is over.
    besides: tuple[str, str] | None = None
    outside: bool = False

    @property
    def main(self) -> tuple[str, str]:
        return (self.receiver, self.alert)

    @property
    def ends_with(self) -> set[tuple[str, str]]:
        """The alerts that end with the incident. A page silences the ticket on the same thing."""
        is_taken_over = self.receiver == "tickets" and self.besides and self.besides[0] == "pager"
        return {self.main, self.besides} if is_taken_over else {self.main}


INCIDENTS = [
    # The workers that come back find jobs that are late.
    Incident("no-workers", "pager", "SqlQueueNoWorker", besides=("pager", "SqlQueueReadyJobTooOld")),
    Incident("starving-job", "pager", "SqlQueueReadyJobTooOld"),
    Incident("no-recovery", "pager", "SqlQueueExpiredLeasesNotRecovered", lasts=90),
    Incident("worker-crash", "tickets", "SqlQueueLeasesLost", lasts=80),
    Incident("poison-job", "tickets", "SqlQueuePoisonJob"),
    Incident("failed-jobs", "tickets", "SqlQueueFailedJobs", lasts=80),
    # Once the backlog is there, the predicted age is reached.
    Incident("growing-backlog", "tickets", "SqlQueueBacklogGrowing", besides=("pager", "SqlQueueReadyJobTooOld")),
    Incident("orphaned-lock", "pager", "SqlQueueEveryRunSkipped"),
    # Runs overlap because they take longer, and one of their steps may be reported for that.
    Incident("overlapping-runs", "tickets", "SqlQueueRunsOverlap", lasts=90, besides=("tickets", "SqlQueueStepSlow")),
    Incident("scheduler-stopped", "pager", "SqlQueueSchedulerStopped", lasts=80),
    # When the step succeeds again, its share of errors within the hour is still a ticket for a while.
    Incident(
        "failing-step", "pager", "SqlQueueStepFailing", lasts=40, besides=("tickets", "SqlQueueStepErrors")
    ),
    # It needs a past as long as the hour that it is compared with: two minutes here.
    Incident("slow-step", "tickets", "SqlQueueStepSlow", after=100, lasts=60, besides=("tickets", "SqlQueueRunsOverlap")),
    Incident("cap-reached", "tickets", "SqlQueueStepWarnings", lasts=110),
    Incident("broken-target", "pager", "SqlQueueTargetNotSampled", lasts=40),
    Incident("database-down", "pager", "SqlQueueDatabaseDown", lasts=40),
    Incident("clock-skew", "tickets", "SqlQueueClockSkew", lasts=40),
    Incident("state-not-saved", "tickets", "SqlQueueStateNotSaved", lasts=40),
    Incident("exporter-down", "pager", "SqlQueueExporterDown", outside=True),
]
