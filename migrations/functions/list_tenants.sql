-- The tenants whose ids begin with `prefix`, in the order of their bytes, behind
-- `after`: those that have an endpoint, or a deleted one whose log is kept. From
-- one id to the next, so the cost is that of the tenants answered. What was
-- delivered and what failed is of the last 24 whole hours and the present one.
CREATE OR REPLACE FUNCTION postern.list_tenants(prefix text, after text, most integer)
RETURNS TABLE (id text, endpoints bigint, enabled bigint, failing bigint, delivered bigint, failed bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN QUERY
    WITH RECURSIVE found AS (
      (SELECT e.tenant_id FROM postern.endpoints e
        WHERE e.tenant_id COLLATE "C" >= prefix AND e.tenant_id COLLATE "C" > after
          -- The next character behind all that an id may have.
          AND e.tenant_id COLLATE "C" < prefix || '{'
        ORDER BY e.tenant_id COLLATE "C" LIMIT 1)
      UNION ALL
      SELECT (SELECT e.tenant_id FROM postern.endpoints e
        WHERE e.tenant_id COLLATE "C" > found.tenant_id AND e.tenant_id COLLATE "C" < prefix || '{'
        ORDER BY e.tenant_id COLLATE "C" LIMIT 1)
      FROM found WHERE found.tenant_id IS NOT NULL
    ), page AS (SELECT f.tenant_id FROM found f WHERE f.tenant_id IS NOT NULL LIMIT most)
    SELECT page.tenant_id, own.endpoints, own.enabled, own.failing, made.delivered, made.failed
    FROM page
    CROSS JOIN LATERAL (
      SELECT count(*) AS endpoints, count(*) FILTER (WHERE e.enabled) AS enabled,
        count(*) FILTER (WHERE e.enabled AND e.failing_since IS NOT NULL) AS failing
      FROM postern.endpoints e WHERE e.tenant_id = page.tenant_id AND e.deleted_at IS NULL
    ) AS own
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(s.count) FILTER (WHERE s.cause = ''), 0)::bigint AS delivered,
        coalesce(sum(s.count) FILTER (WHERE s.cause <> ''), 0)::bigint AS failed
      FROM postern.delivery_stats s
      WHERE s.tenant_id = page.tenant_id AND s.endpoint_id = '00000000-0000-0000-0000-000000000000'
        AND s.grain = 60 AND s.at >= date_trunc('hour', now(), 'UTC') - interval '24 hours'
    ) AS made
    ORDER BY page.tenant_id COLLATE "C";
END
$$;

REVOKE EXECUTE ON FUNCTION postern.list_tenants(text, text, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION postern.list_tenants(text, text, integer) TO postern_publisher;
