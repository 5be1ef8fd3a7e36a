import type { RegistrationResponseJSON } from '@simplewebauthn/server'
import { Type } from 'typebox'
import { createNotFoundError } from '../../platform/http/errors.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { Envelope } from '../../platform/http/schemas.ts'
import type { Services } from '../../services.ts'
import { auditPerson } from '../user.ts'
import { NewPasskey, Passkey, PasskeyChange, PasskeyPath, PasskeyRemoved } from './account.schema.ts'
import { createPasskeyOptions, registerPasskey, removePasskey, verifyNewPasskey } from './manage-passkeys.ts'
import { listPasskeys, type Passkey as StoredPasskey, updatePasskeyName } from './passkey.store.ts'
import { PasskeyOptions } from './sign-in.schema.ts'

const tags = ['Account']

const CreationOptions = {
  ...PasskeyOptions,
  description:
    'Pass it to `PublicKeyCredential.parseCreationOptionsFromJSON()` and `navigator.credentials.create({ publicKey })`.',
}

/** The passkeys of the user who is signed in. */
export async function registerPasskeyRoutes(app: HttpServer, services: Services): Promise<void> {
  const { sql, clock } = services

  app.get(
    '/app/api/account/passkeys',
    {
      config: { signedIn: true },
      schema: {
        operationId: 'listPasskeys',
        summary: 'List your passkeys',
        description: 'Your passkeys, oldest first, at most 25.',
        tags,
        response: { 200: Envelope(Type.Array(Passkey), 'Your passkeys.') },
      },
    },
    async ({ session }) => ({ data: (await listPasskeys(sql, session.user_id)).map(describe) }),
  )

  app.post(
    '/app/api/account/passkeys/options',
    {
      config: { signedIn: true, fresh: true },
      schema: {
        operationId: 'createPasskeyOptions',
        summary: 'Start the registration of a passkey',
        description: 'Returns the options with which the browser creates a passkey.',
        tags,
        response: { 200: Envelope(CreationOptions, 'The options for the browser.') },
      },
    },
    async ({ session: { user_id, email, name } }) => ({
      data: { ...(await createPasskeyOptions(services, { userId: user_id, email, name })) },
    }),
  )

  app.post(
    '/app/api/account/passkeys',
    {
      config: { signedIn: true, fresh: true },
      schema: {
        operationId: 'addPasskey',
        summary: 'Register a passkey',
        description:
          'Adds the passkey that the browser created with the options of this session.\n\nErrors: 400 `passkey_refused` if ' +
          'the challenge was used or has expired, or the response does not verify. 409 `passkey_known` if the passkey is ' +
          'registered, `too_many_passkeys` if the account has 25.',
        tags,
        body: NewPasskey,
        response: { 201: Envelope(Passkey, 'The passkey was added.') },
      },
    },
    async ({ session: { user_id }, body }, reply) => {
      const passkey = await verifyNewPasskey(services, user_id, body.credential as RegistrationResponseJSON)
      const name = body.name?.trim() ?? 'Passkey'
      const added = await sql.begin((tx) => registerPasskey(tx, user_id, { passkey, name, now: clock.now() }))
      return reply.code(201).send({ data: describe(added) })
    },
  )

  app.patch(
    '/app/api/account/passkeys/:id',
    {
      config: { signedIn: true },
      schema: {
        operationId: 'updatePasskey',
        summary: 'Rename a passkey',
        description: 'Changes your name for a passkey.\n\nErrors: 404 `not_found` if you have no such passkey.',
        tags,
        params: PasskeyPath,
        body: PasskeyChange,
        response: { 200: Envelope(Passkey, 'The passkey was renamed.') },
      },
    },
    async ({ session, params, body }) => {
      const { user_id } = session
      const renamed = await sql.begin(async (tx) => {
        const passkey = await updatePasskeyName(tx, user_id, params.id, body.name.trim())
        if (passkey === null) throw createNotFoundError('passkey')
        const object = { type: 'passkey', id: passkey.id }
        const entry = { action: 'passkey.rename', object, details: { name: passkey.name } }
        await auditPerson(tx, { user_id }, entry, clock.now())
        return passkey
      })
      return { data: describe(renamed) }
    },
  )

  app.delete(
    '/app/api/account/passkeys/:id',
    {
      config: { signedIn: true, fresh: true },
      schema: {
        operationId: 'removePasskey',
        summary: 'Remove a passkey',
        description:
          'Removes a passkey, which can no longer sign in. Your other sessions end.\n\nErrors: 404 `not_found` if you have ' +
          'no such passkey. 409 `last_sign_in_method` if you could not sign in any more.',
        tags,
        params: PasskeyPath,
        response: { 200: Envelope(PasskeyRemoved, 'The passkey was removed.') },
      },
    },
    async ({ session, params }) => {
      await removePasskey(services, session, params.id)
      return { data: { removed: true as const } }
    },
  )
}

function describe({ id, name, is_synced, created_at, last_used_at }: StoredPasskey) {
  const times = { created_at: created_at.toISOString(), last_used_at: last_used_at?.toISOString() ?? null }
  return { id, name, is_synced, ...times }
}
