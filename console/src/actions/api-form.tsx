import { Alert, Button, type ButtonProps, Group, List, Stack } from '@mantine/core'
import { type UseFormInput, type UseFormReturnType, useForm } from '@mantine/form'
import { IconAlertTriangle } from '@tabler/icons-react'
import { type FormEvent, type ReactNode, useState } from 'react'
import { describeProblem } from '../page/states.tsx'
import { findFieldErrors } from './form-errors.ts'

type ApiFormViewProps<Values extends object> = {
  form: ApiForm<Values>
  /** The label of the button that sends: a verb. */
  submitLabel: string
  submitProps?: ButtonProps
  /** Shows a button Cancel. */
  onCancel?: () => void
  /** Begins at Cancel, where there is no field to begin at and the act is dangerous. */
  focusesCancel?: boolean
  children: ReactNode
}

/** A form with its fields, the error that belongs to none of them, and its buttons. */
export function ApiFormView<Values extends object>(props: ApiFormViewProps<Values>) {
  const { form, submitLabel, submitProps, onCancel, focusesCancel, children } = props
  return (
    <form onSubmit={form.submit} noValidate>
      <Stack gap="md">
        {children}
        {form.problem && <FormProblemAlert {...form.problem} />}
        <Group justify={onCancel ? 'flex-end' : 'flex-start'} gap="xs">
          {onCancel && (
            <Button variant="default" onClick={onCancel} data-autofocus={focusesCancel || undefined}>
              Cancel
            </Button>
          )}
          <Button type="submit" loading={form.isBusy} {...submitProps}>
            {submitLabel}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function FormProblemAlert({ error, others }: FormProblem) {
  return (
    <Alert color="red" variant="light" role="alert" icon={<IconAlertTriangle />}>
      {describeProblem(error)}
      {others.length > 0 && (
        <List size="sm" mt={4}>
          {others.map((text) => (
            <List.Item key={text}>{text}</List.Item>
          ))}
        </List>
      )}
    </Alert>
  )
}

type ApiFormOptions<Values extends object> = Pick<UseFormInput<Values>, 'validate' | 'onValuesChange'> & {
  initialValues: Values
  /** Sends the values. What it throws is shown at the fields and above the form. */
  send: (values: Values) => Promise<unknown>
  /** The fields of errors that state no path: `{ role_name_taken: 'name' }`. */
  fieldsOfCodes?: Record<string, string>
}

type ApiForm<Values extends object> = {
  /** Values and `getInputProps` of the fields. Their names are those of the body. */
  form: UseFormReturnType<Values>
  submit: (event?: FormEvent<HTMLFormElement>) => void
  isBusy: boolean
  /** What is shown above the fields: an error that belongs to none of them. */
  problem: FormProblem | null
}

type FormProblem = { error: unknown; others: string[] }

/** A form over one operation of the API. It keeps what was typed when the server refuses. */
export function useApiForm<Values extends object>(options: ApiFormOptions<Values>): ApiForm<Values> {
  const { send, fieldsOfCodes, ...formOptions } = options
  const form = useForm<Values>(formOptions)
  const [problem, setProblem] = useState<FormProblem | null>(null)
  const showErrors = (error: unknown) => {
    const { fields, others } = findFieldErrors(error, (name) => hasPath(form.getValues(), name), fieldsOfCodes)
    form.setErrors(fields)
    const isPlaced = Object.keys(fields).length > 0
    if (isPlaced) focusFirst(fields)
    if (!isPlaced || others.length > 0) setProblem({ error, others })
  }
  const submit = form.onSubmit(async (values) => {
    setProblem(null)
    await send(values).catch(showErrors)
  }, focusFirst)
  return { form, submit, isBusy: form.submitting, problem }
}

function hasPath(values: unknown, name: string): boolean {
  let value = values
  for (const part of name.split('.')) {
    if (typeof value !== 'object' || value === null || !(part in value)) return false
    value = (value as Record<string, unknown>)[part]
  }
  return true
}

/** The reader, and a screen reader, go on at the first mistake: that which comes first on the page. */
function focusFirst(errors: object): void {
  const inputs = [...document.querySelectorAll<HTMLElement>('[data-path]')]
  inputs.find(({ dataset: { path = '' } }) => path in errors)?.focus()
}
