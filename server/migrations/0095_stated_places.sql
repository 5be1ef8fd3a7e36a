-- On several database servers, an update may call only functions that are declared immutable. These
-- are: their results depend on nothing but the arguments.
create function place_json(path text, start_line integer) returns jsonb
language sql immutable parallel safe
return case when path is not null then jsonb_build_object('path', path, 'start_line', start_line) end;

create function reported_intel(
  first_seen_at timestamptz, severity text, scanner_score real, cvss_version text, cvss_score real, cvss_vector text,
  fixed_version text
) returns jsonb
language sql immutable parallel safe
return jsonb_build_object(
  'at', rfc3339(first_seen_at), 'severity', severity, 'scanner_score', scanner_score,
  'cvss', case
    when cvss_vector is not null or cvss_score is not null
    then jsonb_build_object('version', cvss_version, 'score', cvss_score, 'vector', cvss_vector)
  end,
  'epss', null, 'kev', null, 'fix_available', fixed_version is not null, 'backfilled', false
);
