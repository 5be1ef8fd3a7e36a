{{- define "shiplock.name" -}}
{{- if contains "shiplock" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-shiplock" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "shiplock.selector" -}}
app.kubernetes.io/name: shiplock
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "shiplock.labels" -}}
{{ include "shiplock.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{/* Settings that every pod has. The secrets are files, so that no process inherits them. */}}
{{- define "shiplock.env" -}}
- name: SHIPLOCK_BASE_URL
  value: {{ .Values.baseUrl | quote }}
{{- range $name, $key := .Values.secret.keys }}
- name: {{ $name }}_FILE
  value: /run/secrets/shiplock/{{ $key }}
{{- end }}
{{- end }}

{{- define "shiplock.volumes" -}}
- name: secrets
  secret:
    secretName: {{ .Values.secret.name }}
    defaultMode: 0440
- name: temporary
  emptyDir: {}
- name: data
  {{- if .Values.objects.existingClaim }}
  persistentVolumeClaim:
    claimName: {{ .Values.objects.existingClaim }}
  {{- else }}
  emptyDir: {}
  {{- end }}
{{- end }}

{{/* The pod security standard "restricted". */}}
{{- define "shiplock.podSecurity" -}}
automountServiceAccountToken: false
# A service named shiplock would otherwise set SHIPLOCK_PORT and further variables to its address.
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* What the containers of server, worker and migration have in common. */}}
{{- define "shiplock.container" -}}
image: {{ printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
volumeMounts:
  - name: secrets
    mountPath: /run/secrets/shiplock
    readOnly: true
  - name: temporary
    mountPath: /tmp
  - name: data
    mountPath: /var/lib/shiplock
{{- end }}

{{- define "shiplock.placement" -}}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
