# SPDX-License-Identifier: MIT
"""JSON schema of the Kubernetes objects that the examples make: the fields that they use, by the
reference of its API (1.33) and of the Prometheus operator (v1). Others are refused."""

TEXT, FLAG, NUMBER = {"type": "string"}, {"type": "boolean"}, {"type": "integer"}
TEXTS = {"type": "object", "additionalProperties": TEXT}


def fields(properties, required=()):
    return {"type": "object", "properties": properties, "required": list(required),
            "additionalProperties": False}


def some(item):
    return {"type": "array", "items": item}


def choice(*values):
    return {"enum": list(values)}


METADATA = fields({"name": TEXT, "namespace": TEXT, "labels": TEXTS, "annotations": TEXTS},
                  ["name"])
QUANTITIES = {"type": "object", "additionalProperties": {"type": ["string", "integer"]}}
SECCOMP = fields({"type": choice("Localhost", "RuntimeDefault", "Unconfined"),
                  "localhostProfile": TEXT}, ["type"])
CAPABILITIES = fields({"add": some(TEXT), "drop": some(TEXT)})
ENVIRONMENT = fields({"name": TEXT, "value": TEXT, "valueFrom": fields(
    {"fieldRef": fields({"fieldPath": TEXT}, ["fieldPath"])})}, ["name"])
CONTAINER = fields({
    "name": TEXT, "image": TEXT, "imagePullPolicy": choice("Always", "IfNotPresent", "Never"),
    "args": some(TEXT), "env": some(ENVIRONMENT),
    "ports": some(fields({"name": TEXT, "containerPort": {
        "type": "integer", "minimum": 1, "maximum": 65535}}, ["containerPort"])),
    "securityContext": fields({
        "runAsUser": NUMBER, "runAsNonRoot": FLAG, "allowPrivilegeEscalation": FLAG,
        "readOnlyRootFilesystem": FLAG, "privileged": FLAG, "capabilities": CAPABILITIES}),
    "resources": fields({"requests": QUANTITIES, "limits": QUANTITIES}),
    "readinessProbe": fields({
        "tcpSocket": fields({"port": {"type": ["string", "integer"]}}, ["port"]),
        "periodSeconds": NUMBER}),
    "volumeMounts": some(fields({"name": TEXT, "mountPath": TEXT, "readOnly": FLAG},
                                ["name", "mountPath"])),
}, ["name", "image"])
VOLUME = fields({
    "name": TEXT,
    "hostPath": fields({"path": TEXT, "type": choice(
        "", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket")}, ["path"]),
    "configMap": fields({"name": TEXT}, ["name"]),
    "secret": fields({"secretName": TEXT}, ["secretName"]),
}, ["name"])
POD = fields({
    "serviceAccountName": TEXT, "imagePullSecrets": some(fields({"name": TEXT}, ["name"])),
    "priorityClassName": TEXT, "nodeSelector": TEXTS,
    "tolerations": some(fields({"key": TEXT, "operator": choice("Exists", "Equal"), "value": TEXT,
                                "effect": TEXT})),
    "securityContext": fields({"seccompProfile": SECCOMP, "runAsUser": NUMBER}),
    "containers": {**some(CONTAINER), "minItems": 1}, "volumes": some(VOLUME),
}, ["containers"])
SELECTOR = fields({"matchLabels": TEXTS})
RELABELING = fields({
    "sourceLabels": some(TEXT), "targetLabel": TEXT, "regex": TEXT,
    "action": choice("replace", "keep", "drop", "labeldrop", "labelkeep", "labelmap")})
ENDPOINT = fields({
    "port": TEXT, "interval": {"type": "string", "pattern": "^[0-9]+(ms|s|m)$"},
    "honorLabels": FLAG, "path": TEXT, "relabelings": some(RELABELING)})


def kind(name, version, properties, required=()):
    return fields({"apiVersion": {"const": version}, "kind": {"const": name},
                   "metadata": METADATA, **properties},
                  ["apiVersion", "kind", "metadata", *required])


RBAC = "rbac.authorization.k8s.io/v1"
SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "oneOf": [
        kind("Namespace", "v1", {}),
        kind("ConfigMap", "v1", {"data": TEXTS}, ["data"]),
        kind("ServiceAccount", "v1", {"automountServiceAccountToken": FLAG}),
        kind("DaemonSet", "apps/v1", {"spec": fields({
            "selector": SELECTOR, "template": fields({
                "metadata": fields({"labels": TEXTS, "annotations": TEXTS}), "spec": POD
            }, ["metadata", "spec"])}, ["selector", "template"])}, ["spec"]),
        kind("ClusterRole", RBAC, {"rules": some(fields({
            "apiGroups": some(TEXT), "resources": some(TEXT),
            "verbs": some(choice("get", "list", "watch"))},
            ["apiGroups", "resources", "verbs"]))}, ["rules"]),
        kind("ClusterRoleBinding", RBAC, {
            "roleRef": fields({"apiGroup": TEXT, "kind": TEXT, "name": TEXT},
                              ["apiGroup", "kind", "name"]),
            "subjects": some(fields({"kind": TEXT, "name": TEXT, "namespace": TEXT},
                                    ["kind", "name"]))}, ["roleRef"]),
        kind("PodMonitor", "monitoring.coreos.com/v1", {"spec": fields({
            "selector": SELECTOR, "podMetricsEndpoints": some(ENDPOINT)
        }, ["selector", "podMetricsEndpoints"])}, ["spec"]),
    ]
}
