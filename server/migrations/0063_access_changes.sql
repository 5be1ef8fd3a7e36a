-- Notifies every process when a person may have lost access, whoever changes it and how, so that
-- open event streams are closed at once. The payload is the id of the user, or `*`.

create function notify_access_change() returns trigger
  language plpgsql
as $$
begin
  perform pg_notify('shiplock_people', coalesce(to_jsonb(old) ->> tg_argv[0], '*'));
  return null;
end
$$;

create trigger session_ends after delete or update of ended_at, token_sha256 on user_sessions
  for each row execute function notify_access_change('user_id');

create trigger user_is_disabled after update of disabled_at on users
  for each row execute function notify_access_change('id');

create trigger member_changes after delete or update on members
  for each row execute function notify_access_change('user_id');

create trigger role_changes after update of permissions on custom_roles
  for each row execute function notify_access_change('nobody');
