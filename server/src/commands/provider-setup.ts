import { requireChoice } from '@shiplock/command-line/options'
import { APP_PROVIDERS, getCodeHost } from '../codehosts/catalogue.ts'
import { requireHostApp } from '../codehosts/setup/begin-setup.ts'
import { withServices } from './administer.ts'
import { defineCommand } from './command.ts'

const NAMES = APP_PROVIDERS.map((provider) => getCodeHost(provider).name).join(' or ')

export const providerSetup = defineCommand({
  name: 'provider setup',
  about: `Prints an address at which a person creates the ${NAMES} App. The address works once and for an hour.`,
  arguments: ['provider'],
  options: {
    organization: {
      type: 'text',
      value: 'LOGIN',
      about: `the organization on ${NAMES} that will own the App (default: the account of the person)`,
    },
    'read-only-alerts': {
      type: 'flag',
      value: '',
      about: `do not ask for permission to dismiss security alerts on ${NAMES}`,
    },
    public: { type: 'flag', value: '', about: 'let other accounts install the App too' },
  },
  async run(context, { provider }, { organization, 'read-only-alerts': readOnlyAlerts, public: isPublic }) {
    const known = requireChoice('provider', provider, APP_PROVIDERS)
    const { name } = getCodeHost(known)
    const options = {
      organization: organization ?? null,
      read_only_alerts: readOnlyAlerts,
      public: isPublic,
      org: null,
    }
    const { url, expires_at } = await withServices(context, (services) =>
      requireHostApp(services, known).startSetup(services.sql, options),
    )
    const text = `Open this address in a browser to create the ${name} App. It works once, until ${expires_at.toISOString()}.`
    context.print({ json: { url, expires_at }, text: `${url}\n\n${text}` })
    if (!url.startsWith('https:'))
      context.say(`Note: ${name} sends webhooks only to addresses that it can reach. Set SHIPLOCK_BASE_URL.`)
  },
})
