"""What the broker of tests and development is told: one KRaft node with short intervals.

Data only; infra/broker.py writes the file and starts the process.
"""

LOG4J = """\
rootLogger.level = INFO
rootLogger.appenderRef.out.ref = out
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d %p %c{1} %m%n
"""

# One node, so one replica; short intervals where a test would else wait. Kafka maps each index
# into memory at its full size, 10 MiB, and on some file systems the first write to such a sparse
# file takes tens of milliseconds: with two for each of 44 new partitions, commits of the first
# seconds took up to 1.2 s. At 256 KiB, enough for 128 MiB of log, they take 20 ms.
PROPERTIES = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "auto.create.topics.enable": "false",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "4",
    "share.coordinator.state.topic.replication.factor": "1",
    "transaction.max.timeout.ms": "60000",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
    "broker.heartbeat.interval.ms": "500",
    "broker.session.timeout.ms": "2000",
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "1000",
    "log.cleaner.backoff.ms": "1000",
    "log.cleaner.dedupe.buffer.size": "16777216",
    "log.initial.task.delay.ms": "5000",
    "log.retention.check.interval.ms": "5000",
    "log.index.size.max.bytes": "262144",
}
