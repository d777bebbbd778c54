-- Orders beyond the newest :keep, at most :batch at a time. One that still awaits a message
-- stays.
DELETE FROM CustomerOrder
WHERE OrderId IN (
    SELECT o.OrderId
    FROM CustomerOrder AS o
    WHERE EXISTS (
        SELECT 1
        FROM NotificationControl AS k
        WHERE k.Kind = 'order' AND k.Key = o.OrderId AND k.Key2 = 0
    )
      AND (
          o.RemindAt IS NULL
          OR EXISTS (
              SELECT 1
              FROM NotificationControl AS k
              WHERE k.Kind = 'reminder' AND k.Key = o.OrderId AND k.Key2 = 0
          )
      )
    ORDER BY o.OrderId DESC
    LIMIT :batch OFFSET :keep
);
