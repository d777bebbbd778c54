-- Comments beyond the newest :keep, oldest first, at most :batch at a time. The newest comment on
-- an item stays until it was announced; oldest first, because an old comment that outlives the newest one
-- would look new.
DELETE FROM Comment
WHERE CommentId IN (
    SELECT c.CommentId
    FROM Comment AS c
    WHERE c.CommentId <= (SELECT CommentId FROM Comment ORDER BY CommentId DESC LIMIT 1 OFFSET :keep)
      AND (
          EXISTS (SELECT 1 FROM Comment AS n WHERE n.ItemId = c.ItemId AND n.CommentId > c.CommentId)
          OR EXISTS (
              SELECT 1
              FROM NotificationControl AS k
              WHERE k.Kind = 'comment' AND k.Key = c.ItemId AND k.Key2 = c.CommentId
          )
      )
    ORDER BY c.CommentId
    LIMIT :batch
);
