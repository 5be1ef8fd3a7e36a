import { Button, Group, Stack, Text, Textarea } from '@mantine/core'
import { IconAlertTriangle, IconRocket } from '@tabler/icons-react'
import { ApiFormView, useApiForm } from '../../actions/api-form.tsx'
import { Dialog, useDialog } from '../../actions/dialog.tsx'
import { notifyDone } from '../../actions/notify.tsx'
import { useOrganization, usePermission } from '../../api/session.ts'
import { useApiMutation } from '../../api/updates.ts'
import { ToneBadge, TrustBadge } from '../../page/badges.tsx'
import { CopyText } from '../../page/copy.tsx'
import { pages } from '../../page/pages.ts'
import { oneLine } from '../../page/reported-text.ts'
import { Section } from '../../page/sections.tsx'
import { Time } from '../../page/time.tsx'
import type { Deployment } from '../facts/deployment-state.ts'

const SHA_SHOWN = 12
const REASON_MIN = 3
const REASON_MAX = 500

type Live = NonNullable<Deployment['live']>
type Subject = NonNullable<Deployment['subjects']>[number]

/** That a deployment runs, since when, and how to say that it no longer does. Nothing if it does not run. */
export function LiveState({ deployment: { id, live } }: { deployment: Deployment }) {
  const mayEnd = usePermission('answer_deployment_gates')
  const dialog = useDialog<true>()
  if (live === null) return null
  return (
    <>
      <ToneBadge tone="running" icon={IconRocket} size="lg">
        Live
      </ToneBadge>
      <Text size="sm" c="dimmed" component="div">
        since <Time at={live.since} />
        {live.trust === 'untrusted' && ', as an untrusted job says'}
        {live.trust === 'self_reported' && ', as an API key says'}
      </Text>
      {live.stale && <StaleBadge />}
      {mayEnd && (
        <Button size="compact-sm" variant="default" onClick={() => dialog.open(true)}>
          End
        </Button>
      )}
      <Dialog dialog={dialog} title="End what runs">
        {() => <EndForm id={id} live={live} onClose={dialog.close} />}
      </Dialog>
    </>
  )
}

function StaleBadge() {
  return (
    <ToneBadge tone="waiting" icon={IconAlertTriangle} size="lg">
      A later deployment was stated
    </ToneBadge>
  )
}

type EndFormProps = { id: string; live: Live; onClose: () => void }

function EndForm({ id, live, onClose }: EndFormProps) {
  const { slug: org } = useOrganization()
  const { mutateAsync: end } = useApiMutation('delete', '/app/api/orgs/{org}/deployments/{id}/live', ['deployment'])
  const endForm = useApiForm({
    initialValues: { reason: '' },
    validate: {
      reason: (reason) => (reason.trim().length < REASON_MIN ? `Enter at least ${REASON_MIN} characters.` : null),
    },
    send: async ({ reason }) => {
      await end({ params: { path: { org, id }, query: { reason: reason.trim() } } })
      notifyDone('The deployment no longer counts as running.')
      onClose()
    },
  })
  return (
    <ApiFormView form={endForm} submitLabel="End" submitProps={{ color: 'red.9' }} onCancel={onClose}>
      <Text size="sm">
        Say so only if it no longer runs, for example because the environment was removed. It counts as running since{' '}
        <Time at={live.since} format="absolute" />. Afterwards, no answer about vulnerabilities names it. It is live
        again if it succeeds again.
      </Text>
      <Textarea
        label="Reason"
        description="The audit log keeps it."
        required
        maxLength={REASON_MAX}
        autosize
        minRows={2}
        data-autofocus
        {...endForm.form.getInputProps('reason')}
      />
    </ApiFormView>
  )
}

/** What is deployed, by digest. Nothing if no digest is known. */
export function SubjectsSection({ deployment: { subjects = [] } }: { deployment: Deployment }) {
  if (subjects.length === 0) return null
  return (
    <Section title="What is deployed" count={subjects.length}>
      <Stack gap="sm">
        {subjects.map((subject) => (
          <SubjectRow key={`${subject.sha256} ${subject.name}`} subject={subject} />
        ))}
      </Stack>
    </Section>
  )
}

function SubjectRow({ subject }: { subject: Subject }) {
  const { slug: org } = useOrganization()
  const { name, sha256, platforms, trust, stated_after_decision, stated_by } = subject
  return (
    <Stack gap={2}>
      <Group gap="sm">
        <Text span size="sm" fw={500} style={{ overflowWrap: 'anywhere' }}>
          <bdi>{oneLine(name, 200)}</bdi>
        </Text>
        <CopyText
          text={sha256}
          of={`SHA-256 of ${oneLine(name, 100)}`}
          shown={SHA_SHOWN}
          page={pages.digest(org, sha256)}
        />
        {trust !== 'ui' && <TrustBadge trust={trust} />}
      </Group>
      {platforms.length > 0 && (
        <Text size="xs" c="dimmed">
          {platforms.map(({ platform }) => oneLine(platform, 40)).join(', ')}
        </Text>
      )}
      {stated_after_decision && (
        <Text size="xs" c="dimmed">
          Stated after the gate was opened{stated_by !== null && ` by ${oneLine(stated_by, 100)}`}. It proves nothing.
        </Text>
      )}
    </Stack>
  )
}
