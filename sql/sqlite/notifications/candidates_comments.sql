-- The newest comment on each item, unless that comment was already announced: several comments between two
-- runs become one message; the next comment becomes another.
SELECT c.ItemId AS Key, c.CommentId AS Key2, c.Recipient
FROM Comment AS c
WHERE c.CommentId = (SELECT max(n.CommentId) FROM Comment AS n WHERE n.ItemId = c.ItemId)
  AND NOT EXISTS (
      SELECT 1
      FROM NotificationControl AS k
      WHERE k.Kind = 'comment' AND k.Key = c.ItemId AND k.Key2 = c.CommentId
  )
ORDER BY c.CommentId
LIMIT :cap;
