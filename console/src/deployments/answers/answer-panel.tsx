import { Button, Group, Kbd, Paper, Stack, Text, Title } from '@mantine/core'
import { IconCheck, IconShieldX, IconX } from '@tabler/icons-react'
import { useId, useState } from 'react'
import { useShortcuts } from '../../actions/shortcuts.ts'
import { useOrganization } from '../../api/session.ts'
import { ExternalLink } from '../../page/link.tsx'
import type { Deployment } from '../facts/deployment-state.ts'
import { AnswerDialog } from './answer-dialog.tsx'
import {
  ANSWER_LABELS,
  type AnswerKind,
  type AnswerOption,
  answerOptions,
  type Decision,
  missingForOverride,
} from './answer-options.ts'

const LOOKS = {
  approve: { icon: IconCheck, variant: 'filled', color: undefined, key: 'a' },
  override: { icon: IconShieldX, variant: 'filled', color: 'red.9', key: 'a' },
  reject: { icon: IconX, variant: 'default', color: undefined, key: 'r' },
} as const

type AnswerPanelProps = { deployment: Deployment; decision: Decision; onAnswered: () => void }

/** The answers that the user can give, and why not the others. Nothing if it does not wait. */
export function AnswerPanel({ deployment, decision, onAnswered }: AnswerPanelProps) {
  const { permissions } = useOrganization()
  const [kind, setKind] = useState<AnswerKind | null>(null)
  const options = answerOptions({ deployment, decision, permissions })
  const allowed = options.filter(({ refusal }) => refusal === null)
  useShortcuts(
    'Deployment',
    allowed.map((option) => ({
      keys: LOOKS[option.kind].key,
      label: ANSWER_LABELS[option.kind],
      run: () => setKind(option.kind),
    })),
  )
  const close = () => setKind(null)
  return (
    <>
      {options.length > 0 && <Panel options={options} deployment={deployment} decision={decision} onChoose={setKind} />}
      {options.length === 0 && deployment.awaiting.length > 0 && <HostPanel deployment={deployment} />}
      <AnswerDialog
        kind={kind}
        deployment={deployment}
        decision={decision}
        onClose={close}
        onAnswered={() => {
          close()
          onAnswered()
        }}
      />
    </>
  )
}

type PanelProps = {
  options: AnswerOption[]
  deployment: Deployment
  decision: Decision
  onChoose: (kind: AnswerKind) => void
}

function Panel({ options, deployment, decision, onChoose }: PanelProps) {
  const title = useId()
  const allowed = options.filter(({ refusal }) => refusal === null)
  const refusals = [...new Set(options.flatMap(({ refusal }) => refusal ?? []))]
  const isBlocked = options.some(({ kind }) => kind === 'override')
  const second = missingForOverride(useOrganization().permissions)
  return (
    <Paper component="section" aria-labelledby={title} p="md" bg="var(--shiplock-surface)">
      <Stack gap="sm">
        <Title order={2} id={title}>
          {isBlocked ? 'Policies block this deployment' : 'This deployment waits for an approval'}
        </Title>
        {isBlocked && (
          <Text size="sm">
            Rules of policies do not pass. An approval overrides them, and is recorded as an override with its reason.
          </Text>
        )}
        {isBlocked && allowed.some(({ kind }) => kind === 'override') && second !== null && (
          <Text size="sm">{second}</Text>
        )}
        {allowed.length > 0 && (
          <Group gap="xs">
            {allowed.map(({ kind }) => (
              <AnswerButton key={kind} kind={kind} onClick={() => onChoose(kind)} />
            ))}
          </Group>
        )}
        {refusals.map((refusal) => (
          <Text key={refusal} size="sm" c="dimmed">
            {refusal}
          </Text>
        ))}
        {decision.unlinked_account && (
          <Text size="sm" c="dimmed">
            Somebody started this run at the code host, where your account is not linked: Shiplock cannot tell whether
            that was you.
          </Text>
        )}
        <Held deployment={deployment} />
      </Stack>
    </Paper>
  )
}

function AnswerButton({ kind, onClick }: { kind: AnswerKind; onClick: () => void }) {
  const { icon: Icon, key, ...look } = LOOKS[kind]
  return (
    <Button
      {...look}
      leftSection={<Icon size={16} aria-hidden />}
      rightSection={
        <Kbd size="xs" aria-hidden visibleFrom="sm">
          {key}
        </Kbd>
      }
      aria-keyshortcuts={key}
      onClick={onClick}
    >
      {ANSWER_LABELS[kind]}
    </Button>
  )
}

/** What else can hold a deployment on its code host, and when that is known to have ended. */
const HELD: Partial<Record<Deployment['awaiting'][number], string>> = {
  wait_timer: 'The environment has a wait timer. The code host does not say when it has ended.',
  external_custom_rules: 'Rules of other Apps have to approve it. The code host does not say what they have answered.',
  protection_rules: 'The protection rules of the environment could not be read yet, so that more can hold it.',
}

function HostPanel({ deployment }: { deployment: Deployment }) {
  const title = useId()
  const isReviewed = deployment.awaiting.includes('required_reviewers')
  return (
    <Paper component="section" aria-labelledby={title} p="md" bg="var(--shiplock-surface)">
      <Stack gap="sm">
        <Title order={2} id={title}>
          {isReviewed ? 'This deployment waits for reviewers' : 'This deployment waits for the code host'}
        </Title>
        {deployment.custom_rule_state === null && deployment.awaiting.includes('customRule') && (
          <Text size="sm">The code host has not asked Shiplock yet. It is looked up with the next event.</Text>
        )}
        <Held deployment={deployment} />
      </Stack>
    </Paper>
  )
}

/** What holds the deployment besides an answer in Shiplock. */
function Held({ deployment }: { deployment: Deployment }) {
  const { awaiting, external_custom_rules: apps } = deployment
  return (
    <>
      {awaiting.includes('required_reviewers') && <Reviewers deployment={deployment} />}
      {awaiting.map((gate) =>
        HELD[gate] === undefined ? null : (
          <Text key={gate} size="sm">
            {HELD[gate]}
            {gate === 'external_custom_rules' &&
              apps.length > 0 &&
              ` Apps: ${apps.map(({ slug }) => slug).join(', ')}.`}
          </Text>
        ),
      )}
    </>
  )
}

/** Reviewers cannot answer here. */
function Reviewers({ deployment }: { deployment: Deployment }) {
  const { required_reviewers: people, required_reviewer_teams: teams, html_url } = deployment
  const names = [...people, ...teams.map((team) => `team ${team}`)]
  return (
    <Stack gap={4}>
      <Text size="sm">
        {names.length > 0
          ? `The code host requires a review by ${names.join(' or ')}.`
          : 'The code host requires a review.'}{' '}
        Reviewers answer there.
      </Text>
      {html_url && (
        <Text size="sm">
          <ExternalLink href={html_url}>Open the run on the code host</ExternalLink>
        </Text>
      )}
    </Stack>
  )
}
