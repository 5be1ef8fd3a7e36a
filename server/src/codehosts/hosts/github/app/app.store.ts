import type { Db } from '../../../../platform/db/sql.ts'
import type { AppSetupOptions } from '../../../code-host.ts'

/** An App that the manifest flow created. `sealed` contains its secrets. */
export type StoredApp = {
  api_url: string
  app_id: string
  slug: string
  html_url: string
  sealed: string
}

export async function findApp(db: Db, apiUrl: string): Promise<StoredApp | null> {
  const [row] = await db<StoredApp[]>`
    select api_url, app_id, slug, html_url, sealed
    from codehost_apps
    where provider = 'github'
      and api_url = ${apiUrl}`
  return row ?? null
}

/** Stores an App in place of an earlier one of the same host. */
export async function upsertApp(db: Db, app: StoredApp, now: Date): Promise<void> {
  await db`
    insert into codehost_apps (provider, api_url, app_id, slug, html_url, sealed, created_at)
    values ('github', ${app.api_url}, ${app.app_id}, ${app.slug}, ${app.html_url}, ${app.sealed}, ${now})
    on conflict (provider, api_url) do update
    set app_id = excluded.app_id,
      slug = excluded.slug,
      html_url = excluded.html_url,
      sealed = excluded.sealed,
      created_at = excluded.created_at`
}

type NewSetup = { state_sha256: Buffer; options: AppSetupOptions; created_at: Date; expires_at: Date }

/** Stores a setup and deletes the expired ones. */
export async function insertSetup(db: Db, setup: NewSetup): Promise<void> {
  await db`delete from codehost_app_setups where expires_at <= ${setup.created_at}`
  await db`
    insert into codehost_app_setups (state_sha256, provider, options, created_at, expires_at)
    values (
      ${setup.state_sha256}, 'github', ${db.json(setup.options)}, ${setup.created_at}, ${setup.expires_at}
    )`
}

/** Finds a setup that is neither used nor expired. */
export async function findOpenSetup(db: Db, stateSha256: Buffer, now: Date): Promise<AppSetupOptions | null> {
  const [row] = await db<{ options: AppSetupOptions }[]>`
    select options
    from codehost_app_setups
    where state_sha256 = ${stateSha256}
      and used_at is null
      and expires_at > ${now}`
  return row?.options ?? null
}

/** Marks a setup as used. Of several callers at the same time, one gets its options. */
export async function updateSetupClaimed(db: Db, stateSha256: Buffer, now: Date): Promise<AppSetupOptions | null> {
  const [row] = await db<{ options: AppSetupOptions }[]>`
    update codehost_app_setups
    set used_at = ${now}
    where state_sha256 = ${stateSha256}
      and used_at is null
      and expires_at > ${now}
    returning options`
  return row?.options ?? null
}

/** Makes a claimed setup usable again, because the code host could not be reached. */
export async function updateSetupReleased(db: Db, stateSha256: Buffer): Promise<void> {
  await db`
    update codehost_app_setups
    set used_at = null
    where state_sha256 = ${stateSha256}`
}
