import { join } from 'node:path'
import { Description, type DescriptionOptions, readDescription } from '../hosts/description.ts'

// biome-ignore lint/suspicious/noExplicitAny: the description is any JSON
type Json = any

const FIXTURES = join(import.meta.dirname, '../../fixtures/github')

function read(name: 'rest' | 'webhooks', options: DescriptionOptions): Description {
  return new Description(`github-${name}`, readDescription(join(FIXTURES, `${name}.json.br`)), options)
}

let rest: Description | undefined
let webhooks: Description | undefined

/** Parts of paths that contain slashes. */
export const SLASHED: ReadonlySet<string> = new Set(['path', 'branch', 'basehead'])

export function restDescription(): Description {
  rest ??= read('rest', { amend: amendRest, slashed: SLASHED })
  return rest
}

function webhookDescription(): Description {
  webhooks ??= read('webhooks', { amend: amendWebhooks })
  return webhooks
}

/** What GitHub's description says against the payload of a webhook. */
export function payloadViolations(event: string, action: string | null, payload: unknown): string[] {
  const name = [event, ...(action === null ? [] : [action])].join('-').replaceAll('_', '-')
  if (webhookDescription().json.webhooks[name] === undefined) return [`webhook ${name} is not described`]
  const mismatch = webhookDescription().mismatch(`/webhooks/${name}`, payload)
  return mismatch === null ? [] : [`webhook ${name}: ${mismatch}`]
}

/**
 * Where GitHub does not keep to its description. `waiting` is the state of a deployment that
 * protection rules hold (https://docs.github.com/graphql/reference/enums#deploymentstatusstate).
 * The `created` filter is a range of times. The addresses of a deployment's status may be empty, as
 * in the recorded payloads of @octokit/webhooks-examples. An account is a person, an organization
 * or an enterprise, but the list of installations describes it as all of them.
 */
function amendRest({ components, paths }: Json): void {
  const installations = paths['/app/installations'].get.responses['200'].content['application/json'].schema
  installations.items = { $ref: '#/components/schemas/installation' }
  const { properties } = components.schemas['deployment-status']
  properties.state.enum.push('waiting')
  delete properties.environment_url.format
  delete properties.log_url.format
  delete properties.target_url.format
  delete components.parameters.created.schema.format
}

function amendWebhooks({ components }: Json): void {
  const { deployment_status } = components.schemas['webhook-deployment-status-created'].properties
  delete deployment_status.properties.environment_url.format
  delete deployment_status.properties.log_url.format
}
