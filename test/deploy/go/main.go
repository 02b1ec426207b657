// Reads files of deployments as the programs do that they are for:
//
//	program chart FOLDER    renders a chart with values, JSON on standard input, as Helm does
//	program compose FILE    loads a file of Docker Compose
//
// Both print JSON; what is wrong is an error.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"sort"

	"github.com/compose-spec/compose-go/v2/cli"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/releaseutil"
	"sigs.k8s.io/yaml"
)

func main() {
	read := map[string]func(string) (interface{}, error){"chart": render, "compose": compose}
	result, err := read[os.Args[1]](os.Args[2])
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(result)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func compose(file string) (interface{}, error) {
	options, err := cli.NewProjectOptions([]string{file})
	if err != nil {
		return nil, err
	}
	return options.LoadProject(context.Background())
}

func render(folder string) (interface{}, error) {
	var values map[string]interface{}
	if err := json.NewDecoder(os.Stdin).Decode(&values); err != nil {
		return nil, err
	}
	chart, err := loader.Load(folder)
	if err != nil {
		return nil, err
	}
	if err := chart.Validate(); err != nil {
		return nil, err
	}
	release := chartutil.ReleaseOptions{Name: "records", Namespace: "apps", IsInstall: true, Revision: 1}
	// Checks the values by the chart's schema.
	given, err := chartutil.ToRenderValues(chart, values, release, nil)
	if err != nil {
		return nil, err
	}
	files, err := engine.Engine{Strict: true}.Render(chart, given)
	if err != nil {
		return nil, err
	}
	return readFiles(files)
}

func readFiles(files map[string]string) (interface{}, error) {
	notes, objects, names := "", []interface{}{}, []string{}
	for name := range files {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if path.Base(name) == "NOTES.txt" {
			notes = files[name]
			continue
		}
		for _, text := range releaseutil.SplitManifests(files[name]) {
			var object interface{}
			if err := yaml.UnmarshalStrict([]byte(text), &object); err != nil {
				return nil, fmt.Errorf("%s: %w\n%s", name, err, text)
			}
			if object != nil {
				objects = append(objects, object)
			}
		}
	}
	return map[string]interface{}{"objects": objects, "notes": notes}, nil
}
