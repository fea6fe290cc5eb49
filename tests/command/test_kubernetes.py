#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""examples/helm and examples/kubernetes: what they make is what Kubernetes takes, with the rights
that the service needs and no others. Helm itself is not needed: the chart uses few functions, which
this test has as well.

    PFM  the command
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [TESTS, os.path.join(TESTS, "support")]
sys.dont_write_bytecode = True
import tap  # noqa: E402
from kubernetes_schema import SCHEMA  # noqa: E402

try:
    import jsonschema
    import yaml
except ImportError:
    jsonschema = None

PFM = os.path.abspath(os.environ.get("PFM", "pfm"))
SOURCE = os.environ["PERFMON_SOURCE"]
CHART = os.path.join(SOURCE, "examples", "helm")
BASE = os.path.join(SOURCE, "examples", "kubernetes")
RELEASE = {"Name": "pm", "Namespace": "watch"}
EVERYTHING = {
    "imagePullSecrets": [{"name": "r"}], "webConfigSecret": "web",
    "podMonitor": {"enabled": True, "interval": "30s", "labels": {"release": "prom"}},
    "nodeSelector": {"kubernetes.io/arch": "amd64"}, "priorityClassName": "system-node-critical",
    "image": {"repository": "registry.example.org/perfmon", "tag": "x", "pullPolicy": "Always"},
}


class Chart:
    """The part of Go's templates that the chart uses: values, quotes, default, toYaml with nindent,
    if and end."""

    def __init__(self, values):
        with open(os.path.join(CHART, "Chart.yaml"), encoding="utf-8") as f:
            meta = yaml.safe_load(f)
        with open(os.path.join(CHART, "values.yaml"), encoding="utf-8") as f:
            self.defaults = yaml.safe_load(f)
        self.root = {
            "Values": self.merge(self.defaults, values), "Release": RELEASE,
            "Chart": {"AppVersion": meta["appVersion"]}
        }
        self.used = set()

    @classmethod
    def merge(cls, old, new):
        if not isinstance(old, dict) or not isinstance(new, dict):
            return new
        return {**old, **{k: cls.merge(old.get(k), v) for k, v in new.items()}}

    def value(self, path):
        here = self.root
        for name in path.strip(".").split("."):
            here = here[name]    # KeyError: a value that values.yaml lacks
        self.used.add(path)
        return here

    def compute(self, words):
        """The text of an action."""
        match = re.fullmatch(r"toYaml (\S+) \| nindent (\d+)", words)
        if match:
            text = yaml.safe_dump(self.value(match[1]), default_flow_style=False).strip()
            return "".join("\n" + " " * int(match[2]) + line for line in text.split("\n"))
        match = re.fullmatch(r"(\S+) \| default (\S+)", words)
        value = self.value(match[1]) or self.value(match[2]) if match else self.value(words)
        return json.dumps(value) if isinstance(value, bool) else str(value)

    def render(self, text):
        pieces = re.split(r"(\s*\{\{-|\{\{)\s*(.*?)\s*\}\}", text)
        out, shown = [pieces[0]], [True]
        for i in range(1, len(pieces), 3):
            mark, words, rest = pieces[i:i + 3]
            if words.startswith("if "):
                value = self.value(words[3:])
                shown.append(shown[-1] and bool(value))
            elif words == "end":
                shown.pop()
            elif shown[-1]:
                out.append(self.compute(words))
            if shown[-1]:
                out.append(rest)
        assert shown == [True], "if and end do not match"
        return "".join(out)

    def objects(self):
        found = []
        for path in sorted(glob.glob(os.path.join(CHART, "templates", "*.yaml"))):
            with open(path, encoding="utf-8") as f:
                text = self.render(f.read())
            try:
                found += [o for o in yaml.safe_load_all(text) if o]
            except yaml.YAMLError as e:
                raise AssertionError("%s: %s\n%s" % (path, e, text)) from e
        return found


def load(path):
    with open(path, encoding="utf-8") as f:
        return [o for o in yaml.safe_load_all(f) if o]


def of_kind(objects, kind):
    return [o for o in objects if o["kind"] == kind]


@unittest.skipUnless(jsonschema, "python3-jsonschema or python3-yaml is missing")
class Objects(unittest.TestCase):
    def check(self, objects):
        """Fields that the API has, references that lead somewhere, and few rights."""
        validator = jsonschema.Draft202012Validator(SCHEMA)
        for o in objects:
            for error in validator.iter_errors(o):
                raise AssertionError("%s: %s" % (o["kind"], jsonschema.exceptions.best_match(
                    [error]).message))
        (pods, ) = of_kind(objects, "DaemonSet")
        template = pods["spec"]["template"]
        labels, spec = template["metadata"]["labels"], template["spec"]
        self.assertLessEqual(pods["spec"]["selector"]["matchLabels"].items(), labels.items())
        (account, ) = of_kind(objects, "ServiceAccount")
        self.assertEqual(spec["serviceAccountName"], account["metadata"]["name"])
        (container, ) = spec["containers"]
        volumes = {v["name"]: v for v in spec["volumes"]}
        self.assertEqual({m["name"] for m in container["volumeMounts"]}, set(volumes))
        self.assertTrue(all(m["readOnly"] for m in container["volumeMounts"]))
        self.assertEqual(container["readinessProbe"]["tcpSocket"]["port"],
                         container["ports"][0]["name"])
        security = container["securityContext"]
        self.assertFalse(security["allowPrivilegeEscalation"])
        self.assertTrue(security["readOnlyRootFilesystem"])
        self.assertEqual(security["capabilities"], {"drop": ["ALL"], "add": ["PERFMON"]})
        self.assertEqual(spec["securityContext"]["seccompProfile"]["type"], "Localhost")
        for role in of_kind(objects, "ClusterRole"):
            self.assertEqual(role["rules"], [{
                "apiGroups": [""], "resources": ["nodes/pods"], "verbs": ["get"]}])
        for binding in of_kind(objects, "ClusterRoleBinding"):
            self.assertEqual([s["name"] for s in binding["subjects"]],
                             [account["metadata"]["name"]])
            self.assertIn(binding["roleRef"]["name"],
                          [r["metadata"]["name"] for r in of_kind(objects, "ClusterRole")])
        for monitor in of_kind(objects, "PodMonitor"):
            self.assertLessEqual(monitor["spec"]["selector"]["matchLabels"].items(),
                                 labels.items())
            self.assertEqual(monitor["spec"]["podMetricsEndpoints"][0]["port"],
                             container["ports"][0]["name"])
        return container, volumes

    def check_config(self, text):
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as f:
            f.write(text)
            f.flush()
            done = subprocess.run([PFM, "serve", "--check-config", f.name], capture_output=True,
                                  text=True, check=False, timeout=60,
                                  env={**os.environ, "NODE_IP": "192.0.2.1"})
        self.assertEqual(done.returncode, 0, text + done.stderr)
        with open(os.path.join(SOURCE, "docs/schema/serve-config.json"), encoding="utf-8") as f:
            jsonschema.Draft202012Validator(json.load(f)).validate(yaml.safe_load(text))

    def test_objects_of_the_chart_are_valid(self):
        """With the values of the chart, and with everything that they offer."""
        chart = Chart({})
        objects = chart.objects()
        container, volumes = self.check(objects)
        (config, ) = of_kind(objects, "ConfigMap")
        self.assertEqual(volumes["config"]["configMap"]["name"], config["metadata"]["name"])
        self.assertEqual(container["args"], ["--config", "/etc/perfmon/serve.yml"])
        self.assertEqual(container["image"], "perfmon:1.0.0")
        self.assertFalse(of_kind(objects, "PodMonitor"))
        if not self.lacks_web():
            self.check_config(config["data"]["serve.yml"])
        everything = Chart(EVERYTHING)
        container, volumes = self.check(everything.objects())
        self.assertEqual(volumes["web"]["secret"]["secretName"], "web")
        (monitor, ) = of_kind(everything.objects(), "PodMonitor")
        self.assertEqual(monitor["metadata"]["labels"]["release"], "prom")
        without = Chart({"kubelet": {"enabled": False}}).objects()
        self.check(without)
        self.assertFalse(of_kind(without, "ClusterRole") + of_kind(without, "ClusterRoleBinding"))
        self.assertFalse(of_kind(without, "ServiceAccount")[0]["automountServiceAccountToken"])

    def test_each_value_is_used(self):
        """A value that no template reads would be set without effect."""
        chart = Chart(EVERYTHING)
        chart.objects()

        def leaves(here, path):
            if not isinstance(here, dict) or path in chart.used or not here:
                return [path]
            return [x for k, v in here.items() for x in leaves(v, path + "." + k)]

        self.assertEqual(set(leaves(chart.defaults, ".Values")) - chart.used, set())

    def test_objects_of_the_base_are_valid(self):
        """kubectl apply -k: all files, one namespace."""
        (kustomization, ) = load(os.path.join(BASE, "kustomization.yaml"))
        files = {os.path.basename(p) for p in glob.glob(os.path.join(BASE, "*.yaml"))}
        self.assertEqual(set(kustomization["resources"]), files - {"kustomization.yaml"})
        objects = [o for name in kustomization["resources"]
                   for o in load(os.path.join(BASE, name))]
        container, _ = self.check(objects)
        (namespace, ) = of_kind(objects, "Namespace")
        self.assertEqual(namespace["metadata"]["name"], kustomization["namespace"])
        # A volume of the host is forbidden by the other levels of pod security.
        self.assertEqual(namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"],
                         "privileged")
        # The service takes its arguments.
        done = subprocess.run([PFM, "serve", *container["args"], "--nonsense"],
                              capture_output=True, text=True, check=False, timeout=60)
        self.assertIn("unknown option --nonsense", done.stderr)

    def test_faults_are_found(self):
        """The schema refuses fields that Kubernetes does not have, and values of other types."""
        for change in ("readOnlyRootFilesystem", "hostPath", "matchLabels", "roleRef", "verbs",
                       "serviceAccountName", "podMetricsEndpoints"):
            objects = Chart(EVERYTHING).objects()
            text = json.dumps(objects).replace('"%s"' % change, '"%sx"' % change)
            with self.assertRaises((AssertionError, KeyError), msg=change):
                self.check(json.loads(text))

    @staticmethod
    def lacks_web():
        done = subprocess.run([PFM, "serve", "--check-config", "/nonexistent"],
                              capture_output=True, text=True, check=False, timeout=60)
        return "without libyaml" in done.stderr


if __name__ == "__main__":
    tap.main()
