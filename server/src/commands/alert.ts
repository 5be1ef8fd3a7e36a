import { requireChoice } from '@shiplock/command-line/options'
import { COMMAND_LINE } from '../audit/audit.store.ts'
import { DISMISS_REASONS } from '../codehosts/host-alert.ts'
import { requireOrganization } from '../organizations/organization.ts'
import { type ListedAlert, listAlertTitles } from '../security/alerts/alert.store.ts'
import { COMMENT_CHARS_MAX, dismissAlert } from '../security/alerts/decide-alerts.ts'
import { defineCommand, formatTable } from './command.ts'
import { withServices } from './with-services.ts'

const ORG = { type: 'text', value: '<slug>', about: 'the organization', required: true } as const

export const alertList = defineCommand({
  name: 'alert list',
  about: "Lists an organization's newest security alerts of code hosts.",
  arguments: [],
  options: {
    org: ORG,
    status: { type: 'text', value: 'S', about: 'only alerts with this status: open, fixed or dismissed' },
    severity: { type: 'text', value: 'S', about: 'only alerts of this severity: critical, high, medium, low or info' },
  },
  async run(context, _given, { org, status, severity }) {
    const alerts = await withServices(context, async ({ sql }) =>
      listAlertTitles(sql, (await requireOrganization(sql, org)).id, { status, severity }),
    )
    const heading = ['ID', 'REPOSITORY', 'SEVERITY', 'STATUS', 'TITLE']
    context.print({
      json: alerts,
      text: formatTable(heading, alerts.map(toRow), `The organization ${org} has no alerts.`),
    })
  },
})

export const alertDismiss = defineCommand({
  name: 'alert dismiss',
  about: 'Dismisses an open security alert, and sends the dismissal to its code host.',
  arguments: ['id'],
  options: {
    org: ORG,
    reason: { type: 'text', value: 'R', about: `the reason: ${DISMISS_REASONS.join(', ')}`, required: true },
    comment: { type: 'text', value: 'C', about: `a comment of at most ${COMMENT_CHARS_MAX} characters` },
  },
  async run(context, { id }, { org, comment, ...options }) {
    const reason = requireChoice('reason', options.reason, DISMISS_REASONS)
    await withServices(context, async (services) => {
      const organization = await requireOrganization(services.sql, org)
      await dismissAlert(services, organization.id, COMMAND_LINE, { id, reason, comment: comment ?? null })
    })
    context.print({
      json: { id, status: 'dismissed', dismissal_delivery: 'pending' },
      text: `Dismissed the alert ${id}. The dismissal is being sent to the code host.`,
    })
  },
})

function toRow({ id, repository, severity, status, dismissal_delivery, title }: ListedAlert): string[] {
  const shown = dismissal_delivery === null ? status : `${status} (${dismissal_delivery})`
  return [id, repository, severity, shown, title]
}
