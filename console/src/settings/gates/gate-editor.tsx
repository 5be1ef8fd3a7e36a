import { Alert, Button, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { notifyDone } from '../../actions/notify.tsx'
import { asApiError } from '../../api/api-error.ts'
import { useOrganization } from '../../api/session.ts'
import { useApiMutation, useRefresh } from '../../api/updates.ts'
import { Time } from '../../page/time.tsx'
import { type Gate, type GateSettings, gateChanges, settingsOf } from './describe-gate.ts'
import { GateForm } from './gate-form.tsx'
import { gateVersionsQuery } from './routes.ts'

/** Changes a gate, unless somebody else has changed it since the form was opened. */
export function GateEditor({ gate }: { gate: Gate }) {
  const { slug: org } = useOrganization()
  const { mutateAsync: updateGate } = useApiMutation('patch', '/app/api/orgs/{org}/gates/{id}', [])
  const refresh = useRefresh()
  const [base, setBase] = useState(gate)
  const [isConflict, setConflict] = useState(false)
  const save = async (settings: GateSettings & { reason: string | null }) => {
    try {
      const path = { org, id: gate.id }
      const body = { ...settings, expected_version: base.version }
      const { data } = await updateGate({ params: { path }, body })
      setBase(data)
      notifyDone(`${settings.name} was saved`)
      void refresh('gate')
    } catch (error) {
      // What is shown, and what the form goes on from, is the version that is stored now.
      await refresh('gate')
      if (asApiError(error)?.code !== 'version_conflict') throw error
      setConflict(true)
    }
  }
  const goOn = () => {
    setBase(gate)
    setConflict(false)
  }
  const notice = isConflict && <ChangedMeanwhile base={base} gate={gate} onGoOn={goOn} />
  return <GateForm gate={settingsOf(gate)} submitLabel="Save" send={save} notice={notice} />
}

type ChangedMeanwhileProps = { base: Gate; gate: Gate; onGoOn: () => void }

/** Who has changed the gate, and what. */
function ChangedMeanwhile({ base, gate, onGoOn }: ChangedMeanwhileProps) {
  const { slug: org } = useOrganization()
  const { data } = useQuery(gateVersionsQuery(org, gate.id))
  const newest = data?.data[0]
  return (
    <Alert color="yellow" role="alert" icon={<IconAlertTriangle />} title="The gate has been changed meanwhile">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">
          {newest?.changed_by?.name ?? 'Somebody'} stored version {newest?.version ?? gate.version}{' '}
          {newest && <Time at={newest.created_at} />}. Nothing of yours was saved.
        </Text>
        {gateChanges(base, gate).map((change) => (
          <Text key={change} size="sm">
            {change}
          </Text>
        ))}
        <Button size="xs" variant="default" onClick={onGoOn}>
          Keep my settings, then save again
        </Button>
      </Stack>
    </Alert>
  )
}
