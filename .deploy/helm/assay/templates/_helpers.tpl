{{- define "assay.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 52 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "assay.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "assay.labels" -}}
{{ include "assay.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "assay.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}{{ .Values.serviceAccount.name | default (include "assay.name" .) }}
{{- else }}{{ .Values.serviceAccount.name | default "default" }}{{ end }}
{{- end }}

{{- /* The secret with the first key; empty where the service makes one up. */}}
{{- define "assay.secret" -}}
{{- if .Values.existingSecret }}{{ .Values.existingSecret }}
{{- else if .Values.bootstrapKey }}{{ include "assay.name" . }}{{ end }}
{{- end }}

{{- /* The path of the Ingress without a slash at its end; empty for the root. */}}
{{- define "assay.path" -}}
{{- if .Values.ingress.enabled }}{{ trimSuffix "/" .Values.ingress.path }}{{ end }}
{{- end }}

{{- define "assay.publicUrl" -}}
{{- with .Values.ingress }}
{{- if $.Values.publicUrl }}{{ trimSuffix "/" $.Values.publicUrl }}
{{- else if .enabled }}{{ ternary "https" "http" .tls.enabled }}://{{ .host }}{{ include "assay.path" $ }}{{ end }}
{{- end }}
{{- end }}
